"""`mcp-memory models`: what Ollama has, what fits this machine, downloads, and one checked extraction."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from .console import Json, busy, err, failing_clearly, out, print_json
from .errors import ModelUnavailableError
from .language_model import LanguageModel, client_of, find_model, full_name
from .model_check import MAX_CALLS, Call, ModelCheck, check_model
from .ollama_client import InstalledModel, PullProgress, is_on_this_machine
from .settings import FILE_NAME, Settings, load_settings, sources
from .sizing import CANDIDATES, Candidate, MachineMemory, judge, needed_bytes, suggest

app = typer.Typer(invoke_without_command=True)

_WILL_NOT_DO = ("too large", "in the cloud")
# What a verdict means to people; scripts get the verdict.
_VERDICTS = {
    "loaded": "in memory now",
    "fits": "fits",
    "tight": "fits when other programs are closed",
    "too large": "too large",
    "in the cloud": "runs in the cloud: what is said leaves your machines",
    "unknown": "not known",
}


@dataclass(frozen=True, slots=True)
class _Listed:
    """An installed model, the memory that it needs in bytes, and a key of `_VERDICTS`."""

    model: InstalledModel
    needed: int
    verdict: str


@dataclass(frozen=True, slots=True)
class _Overview:
    """What there is. `memory` is None for another machine, `chosen` where the configured model is missing."""

    host: str
    settings: Settings
    memory: MachineMemory | None
    listed: tuple[_Listed, ...]
    chosen: _Listed | None

    @property
    def suggested(self) -> Sequence[Candidate]:
        """Models to pull, where the configured one will not do."""
        if self.chosen and self.chosen.verdict not in _WILL_NOT_DO:
            return ()
        return suggest(self.settings.llm_context_tokens, self.memory)

    def needed(self, size_bytes: int) -> int:
        """Memory that a model of this size needs, in bytes."""
        return needed_bytes(size_bytes, self.settings.llm_context_tokens)


@app.callback()
def models(context: typer.Context, as_json: Json = False) -> None:
    """See which language models Ollama has and what fits this machine's memory; get one, try one."""
    if context.invoked_subcommand:
        return
    with failing_clearly(), busy() as progress:
        progress.add_task("Asking Ollama", total=None)
        overview = _look(load_settings())
    if as_json:
        print_json(_payload(overview))
        return
    out.print(Text(f"Ollama at {overview.host}"))
    if overview.listed:
        out.print(_table(overview))
    for line in _remarks(overview):
        out.print(Text(line), soft_wrap=True)
    if overview.suggested:
        out.print(_suggestions(overview))


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="The model's name in Ollama's library, such as qwen3:8b.")],
    as_json: Json = False,
) -> None:
    """Download a model into Ollama. Ctrl-C stops it; the same command goes on from there."""
    with failing_clearly():
        settings = load_settings()
        client = client_of(settings)
        try:
            _show_download(client.pull(name))
        except KeyboardInterrupt:
            stopped = f"Stopped. Ollama keeps what has come while it runs. To go on: {_pull(name)}"
            err.print(Text(stopped), soft_wrap=True)
            raise
    is_configured = full_name(name) == full_name(settings.llm_model)
    if as_json:
        print_json({"pulled": name, "host": client.host, "configured": is_configured})
        return
    out.print(Text(f"Ollama at {client.host} has {name}."))
    how = "It is the configured model." if is_configured else _how_to_configure(name, settings)
    out.print(Text(how), soft_wrap=True)
    out.print(Text(f"To try it: mcp-memory models check{'' if is_configured else f' {name}'}"))


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="The model to try; the configured one if none is given.")] = "",
    as_json: Json = False,
) -> None:
    """Let a model read a short fixed conversation, and compare what comes. Your memory is not touched."""
    with failing_clearly():
        settings = load_settings(**({"llm_model": name} if name else {}))
        model = LanguageModel(settings)
        presence = model.look()
        if presence.advice:
            raise ModelUnavailableError(presence.found, hint=presence.advice)
        promise = (
            f"{model.name} at {model.host} reads four short messages, in at most {MAX_CALLS} answers of at most"
            f" {settings.llm_timeout_s:g} s each (MCP_MEMORY_LLM_TIMEOUT_S). Ctrl-C ends it."
        )
        err.print(Text(promise), soft_wrap=True)
        with busy() as progress:
            task = progress.add_task("Reading", total=None)

            def on_call(call: Call) -> None:
                progress.console.print(Text(f"  {_call_line(call)}", style="dim"))
                progress.reset(task)

            found = check_model(model.ask, on_call)
    if as_json:
        print_json(_check_payload(model, found))
    else:
        for line in _check_lines(model.name, found, settings):
            out.print(line, soft_wrap=True)
    if not found.is_faultless:
        raise typer.Exit(1)


def machine_memory() -> MachineMemory:
    """This machine's memory now."""
    import psutil

    memory = psutil.virtual_memory()
    return MachineMemory(memory.total, memory.available)


def _look(settings: Settings) -> _Overview:
    client = client_of(settings)
    memory = machine_memory() if is_on_this_machine(client.host) else None
    installed = client.installed()
    running: Collection[str] = ()
    if installed:
        # Older servers do not tell what they hold.
        with contextlib.suppress(ModelUnavailableError):
            running = client.running()
    listed = []
    for model in installed:
        needed = needed_bytes(model.size_bytes, settings.llm_context_tokens)
        if model.name.endswith(("-cloud", ":cloud")):
            verdict = "in the cloud"
        elif model.name in running:
            verdict = "loaded"
        else:
            verdict = judge(needed, memory) if memory else "unknown"
        listed.append(_Listed(model, needed, verdict))
    configured = find_model(settings.llm_model, installed)
    chosen = next((each for each in listed if each.model == configured), None)
    return _Overview(client.host, settings, memory, tuple(listed), chosen)


def _table(overview: _Overview) -> Table:
    table = _plain_table("", "model", "parameters", "quantisation", "on disk", "needs", "here")
    for each in overview.listed:
        table.add_row(
            "*" if each is overview.chosen else "",
            Text(each.model.name),
            Text(each.model.parameters),
            Text(each.model.quantization),
            _gb(each.model.size_bytes),
            "" if each.verdict == "in the cloud" else _gb(each.needed),
            _VERDICTS[each.verdict],
        )
    return table


def _remarks(overview: _Overview) -> Iterator[str]:
    settings, memory = overview.settings, overview.memory
    if overview.chosen:
        yield "* is the configured model (MCP_MEMORY_LLM_MODEL)."
    yield (
        f"A model needs, roughly, its size on disk and {_gb(overview.needed(0))} for a context of"
        f" {settings.llm_context_tokens} tokens. A graphics card's memory is not counted."
    )
    if memory:
        yield f"This machine has {_gb(memory.total)} of memory, {_gb(memory.available)} of it available."
    else:
        yield "That is another machine: whether its memory is enough cannot be told from here."
    if overview.chosen is None:
        yield from _how_to_get_one(overview)
    elif overview.chosen.verdict in _WILL_NOT_DO:
        yield f"The configured model is not one for this machine: it is {overview.chosen.verdict}."
    if not overview.suggested and (overview.chosen is None or overview.chosen.verdict in _WILL_NOT_DO):
        yield "No model known here fits. MCP_MEMORY_OLLAMA_HOST can name the Ollama of a larger machine."


def _how_to_get_one(overview: _Overview) -> Iterator[str]:
    name = overview.settings.llm_model
    known = next((candidate for candidate in CANDIDATES if candidate.name == name), None)
    size = f" (needs {_gb(overview.needed(known.size_bytes))})" if known else ""
    yield f"The configured model, {name}{size}, is not there. To get it: {_pull(name)}"
    if any(each.verdict not in _WILL_NOT_DO for each in overview.listed):
        yield "To use one that is there, set MCP_MEMORY_LLM_MODEL to its name; to try it: mcp-memory models check NAME"


def _suggestions(overview: _Overview) -> Table:
    table = _plain_table("to try", "parameters", "on disk", "needs", "type")
    for candidate in overview.suggested:
        needed = _gb(overview.needed(candidate.size_bytes))
        table.add_row(candidate.name, candidate.parameters, _gb(candidate.size_bytes), needed, _pull(candidate.name))
    return table


def _plain_table(*columns: str) -> Table:
    return Table(*columns, box=None, pad_edge=False, header_style="bold")


def _payload(overview: _Overview) -> dict[str, Any]:
    memory = overview.memory
    return {
        "host": overview.host,
        "configured": {"name": overview.settings.llm_model, "installed": overview.chosen is not None},
        "memory": {"total_bytes": memory.total, "available_bytes": memory.available} if memory else None,
        "models": [
            {
                "name": each.model.name,
                "parameters": each.model.parameters,
                "quantization": each.model.quantization,
                "size_bytes": each.model.size_bytes,
                "needed_bytes": each.needed,
                "fit": each.verdict,
            }
            for each in overview.listed
        ],
        "suggestions": [
            {
                "name": candidate.name,
                "parameters": candidate.parameters,
                "size_bytes": candidate.size_bytes,
                "needed_bytes": overview.needed(candidate.size_bytes),
                "command": _pull(candidate.name),
            }
            for candidate in overview.suggested
        ],
    }


def _show_download(steps: Iterable[PullProgress]) -> None:
    """A bar for each file, a line for each step that has no size."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bars: dict[str, TaskID] = {}
    told = ""
    with Progress(*columns, console=err) as progress:
        for step in steps:
            if step.total:
                if step.status not in bars:
                    bars[step.status] = progress.add_task(step.status, total=step.total)
                progress.update(bars[step.status], completed=step.completed)
            elif step.status != told:
                told = step.status
                progress.console.print(Text(told, style="dim"))


def _how_to_configure(name: str, settings: Settings) -> str:
    if sources(settings)["llm_model"] == "environment":
        return f"To use it, change MCP_MEMORY_LLM_MODEL from {settings.llm_model} to {name}."
    file = settings.home / FILE_NAME
    return f'To use it, set MCP_MEMORY_LLM_MODEL={name}, or write llm_model = "{name}" into {file}.'


def _check_lines(name: str, found: ModelCheck, settings: Settings) -> Iterator[Text]:
    for outcome in found.outcomes:
        mark, style = ("ok  ", "green") if outcome.is_as_expected else ("BAD ", "bold red")
        yield Text.assemble((mark, style), f" {outcome.about}: {outcome.remark}")
        yield Text(f"     said: {outcome.said}", style="dim")
        yield Text(f"     kept: {' | '.join(outcome.kept) or 'nothing'}")
    n_read = sum(call.n_prompt_tokens for call in found.calls)
    n_written = sum(call.n_output_tokens for call in found.calls)
    yield Text(
        f"{len(found.calls)} answers in {found.duration_s:.1f} s, {n_read} tokens read, {n_written} tokens written"
    )
    slowest = max((call.duration_s for call in found.calls), default=0.0)
    if slowest > settings.add_wait_s:
        yield Text(
            f"An answer took {slowest:.0f} s. An add waits {settings.add_wait_s:g} s (MCP_MEMORY_ADD_WAIT_S), then it"
            " answers `queued` and the work goes on."
        )
    yield Text(_judgement(name, found), style="green" if found.is_faultless else "bold red")


def _judgement(name: str, found: ModelCheck) -> str:
    if found.is_faultless:
        return f"{name} is usable: all {len(found.outcomes)} as expected."
    if found.failure:
        flaw = f"is of no use: it gave no answer in the form asked for ({found.failure})"
    elif not found.is_of_use:
        flaw = "is of no use: it found nothing of what was to be found"
    else:
        flaw = f"makes mistakes: {found.n_as_expected} of {len(found.outcomes)} as expected"
    return f"{name} {flaw}. For others: mcp-memory models"


def _check_payload(model: LanguageModel, found: ModelCheck) -> dict[str, Any]:
    return {
        "model": model.name,
        "host": model.host,
        "ok": found.is_faultless,
        "failure": found.failure,
        "duration_s": round(found.duration_s, 2),
        "outcomes": [
            {
                "about": outcome.about,
                "said": outcome.said,
                "kept": list(outcome.kept),
                "ok": outcome.is_as_expected,
                "remark": outcome.remark,
            }
            for outcome in found.outcomes
        ],
        "answers": [
            {
                "duration_s": round(call.duration_s, 2),
                "prompt_tokens": call.n_prompt_tokens,
                "output_tokens": call.n_output_tokens,
            }
            for call in found.calls
        ],
    }


def _call_line(call: Call) -> str:
    return f"answer in {call.duration_s:.1f} s, {call.n_prompt_tokens} tokens read, {call.n_output_tokens} written"


def _pull(name: str) -> str:
    return f"mcp-memory models pull {name}"


def _gb(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB"
