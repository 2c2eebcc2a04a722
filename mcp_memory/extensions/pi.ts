// mcp-memory in Pi: recalls before each prompt, captures after each turn, and offers the tools where it is told to.
//
// Everything is done by the command line of mcp-memory. Written by `mcp-memory install pi`, which replaces what is
// between double underscores; changes are lost with the next installation.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
// Only types: erased when Pi loads this file, so that it does not matter what Pi's package is called.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const COMMAND: string[] = __MCP_MEMORY_COMMAND__;
const WITH_TOOLS: boolean = __MCP_MEMORY_WITH_TOOLS__;

const CLIENT = "pi";
// Longest that a prompt is kept waiting for what is remembered, and of it for what the start of the session brings.
const RECALL_MS = 1500;
const START_MS = 600;
// Longest that the end of a turn or session is kept waiting for what was said to be handed over, and of it for the
// hook of the turn before to be through, so that hooks run in their order.
const HAND_OVER_MS = 1500;
const IN_ORDER_MS = 500;
// An addition may wait for its extraction by a language model.
const TOOL_MS = 120_000;

type Json = Record<string, unknown>;
type Said = { role: string; content: string; id: string; timestamp: string };
type Heard = { messages: Said[]; served: string[] };

interface Ran {
	code: number | null;
	output: string;
	errors: string;
}

function environment(): NodeJS.ProcessEnv {
	const { FORCE_COLOR: _, ...inherited } = process.env;
	return { ...inherited, MCP_MEMORY_AGENT_ID: CLIENT, NO_COLOR: "1" };
}

/** Runs the command to its end, for no longer than `patienceMs`; a command that cannot be started has no code. */
function run(args: string[], stdin: string, patienceMs: number, signal?: AbortSignal): Promise<Ran> {
	return new Promise((resolve) => {
		const ran: Ran = { code: null, output: "", errors: "" };
		const child = spawn(COMMAND[0], [...COMMAND.slice(1), ...args], { env: environment(), windowsHide: true });
		const finish = (code: number | null) => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", giveUp);
			resolve({ ...ran, code });
		};
		const giveUp = () => {
			child.kill("SIGKILL");
			// What it started may hold its output open: nobody waits for that.
			child.stdout.destroy();
			child.stderr.destroy();
			ran.errors ||= signal?.aborted ? "cancelled" : `no answer within ${patienceMs / 1000} s`;
			finish(null);
		};
		const timer = setTimeout(giveUp, patienceMs);
		if (signal?.aborted) giveUp();
		signal?.addEventListener("abort", giveUp);
		child.stdout.setEncoding("utf8").on("data", (piece: string) => (ran.output += piece));
		child.stderr.setEncoding("utf8").on("data", (piece: string) => (ran.errors += piece));
		child.on("error", (error) => {
			ran.errors ||= `${COMMAND[0]} cannot be started: ${error.message}`;
			finish(null);
		});
		child.on("close", finish);
		// It may have ended without reading.
		child.stdin.on("error", () => {});
		child.stdin.end(stdin);
	});
}

/** Starts the hook that captures, which outlives Pi. `taken`: it has all its input; `ended`: it is through. */
function handOver(input: Json): { taken: Promise<void>; ended: Promise<void> } {
	// Patiently: nobody waits for it, and nobody has what was said but it. An engine that starts may take some seconds.
	const child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", "capture", CLIENT, "--patiently"], {
		env: environment(),
		windowsHide: true,
		detached: true,
		stdio: ["pipe", "ignore", "ignore"],
	});
	child.unref();
	const ended = new Promise<void>((resolve) => {
		child.on("error", () => resolve());
		child.on("exit", () => resolve());
	});
	const taken = new Promise<void>((resolve) => {
		child.stdin.on("error", () => resolve());
		child.stdin.end(JSON.stringify(input), () => resolve());
	});
	return { taken: Promise.race([taken, ended]), ended };
}

/** Waits for something, for so long at most. */
async function within<T>(patienceMs: number, awaited: Promise<T>): Promise<T | undefined> {
	let timer: NodeJS.Timeout | undefined;
	const patience = new Promise<undefined>((resolve) => {
		timer = setTimeout(() => resolve(undefined), Math.max(0, patienceMs));
	});
	try {
		return await Promise.race([awaited, patience]);
	} finally {
		clearTimeout(timer);
	}
}

/** What somebody typed: without the skills and files that Pi puts in front of it. */
function typed(prompt: string): string {
	const putIn = /^\s*<(skill|file) name="[^"\n]*"[^>\n]*>[\s\S]*?<\/\1>\s*/;
	let rest = prompt;
	while (putIn.test(rest)) rest = rest.replace(putIn, "");
	return rest.trim();
}

/** The text of a message: no tool calls, no thinking, no images. */
function textOf(content: unknown): string {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content
		.filter((block) => block?.type === "text")
		.map((block) => block.text)
		.join("\n");
}

/** Ids of memories in what a tool of the memory returned. */
const MEMORY_ID = /(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{12}(?![0-9a-z])/g;
const OWN_TOOL = /(search_memory|add_memory|get_memory|list_memories|update_memory)$/;

/**
 * What user and assistant said in some messages, and the ids of memories that tools returned in them.
 *
 * Of a turn with tool calls the answer is what comes after the last one; what is said on the way tells of the work. What
 * recall put in was said by nobody, and an answer that broke off was not given.
 */
function heardIn(messages: unknown[], ctx: ExtensionContext): Heard {
	// Ids of the session's file, where the messages are in it: the same after a fork or a second look.
	const ids = new Map<unknown, string>();
	for (const entry of ctx.sessionManager.getBranch()) {
		if (entry.type === "message") ids.set(entry.message, entry.id);
	}
	const heard: Heard = { messages: [], served: [] };
	const ownCalls = new Set<unknown>();
	let answer: Said[] = [];
	for (const [place, message] of messages.entries()) {
		const { role, content, timestamp, stopReason, toolCallId } = message as Json & { timestamp?: number };
		if (role === "toolResult" && ownCalls.has(toolCallId)) {
			heard.served.push(...(textOf(content).match(MEMORY_ID) ?? []));
		}
		if (role !== "user" && role !== "assistant") continue;
		const calls = Array.isArray(content) ? content.filter((block) => block?.type === "toolCall") : [];
		for (const call of calls) {
			// Through a proxy the tool is named in its arguments.
			if ([call.name, call.arguments?.tool].some((name) => OWN_TOOL.test(String(name)))) ownCalls.add(call.id);
		}
		const isAnswer = calls.length === 0 && stopReason !== "error" && stopReason !== "aborted";
		if (role === "assistant" && !isAnswer) {
			answer = [];
			continue;
		}
		const text = role === "user" ? typed(textOf(content)) : textOf(content).trim();
		if (!text) continue;
		const at = timestamp ?? Date.now();
		const id = ids.get(message) ?? `${at}-${place}-${role}`;
		const said = { role, content: text, id, timestamp: new Date(at).toISOString() };
		if (role === "assistant") {
			answer.push(said);
			continue;
		}
		heard.messages.push(...answer, said);
		answer = [];
	}
	heard.messages.push(...answer);
	return heard;
}

export default function (pi: ExtensionAPI) {
	const noSession = randomUUID();
	// What the start of a session brings, once it is there; it goes in front of the next prompt's.
	let atStart: Promise<string> | undefined;
	let capturing: Promise<void> = Promise.resolve();
	// What has been said so far, for those who have a conversation captured at its end.
	const heard: Heard = { messages: [], served: [] };

	const knownOf = (ctx: ExtensionContext): Json => ({
		session_id: ctx.sessionManager.getSessionId() || noSession,
		cwd: ctx.cwd,
	});

	const recall = async (input: Json, patienceMs: number): Promise<string> => {
		const ran = await run(["hook", "recall", CLIENT], JSON.stringify(input), patienceMs);
		return ran.code === 0 ? ran.output.trim() : "";
	};

	const begin = (source: string, ctx: ExtensionContext) => {
		// Nobody waits for it here: it is done while somebody types.
		atStart = recall({ hook_event_name: "SessionStart", source, ...knownOf(ctx) }, RECALL_MS).catch(() => "");
	};

	pi.on("session_start", (event, ctx) => {
		// The same conversation goes on.
		if (event.reason === "reload") return;
		const branch = ctx.sessionManager.getBranch();
		const hasBegun = branch.some((entry) => entry.type === "message" && entry.message.role === "user");
		begin(hasBegun ? "resume" : event.reason === "new" ? "clear" : "startup", ctx);
	});

	pi.on("session_compact", (_event, ctx) => begin("compact", ctx));

	pi.on("before_agent_start", async (event, ctx) => {
		try {
			const began = performance.now();
			const started = atStart && (await within(START_MS, atStart));
			// What is not there in time is given with the next prompt.
			if (started !== undefined) atStart = undefined;
			const leftMs = RECALL_MS - (performance.now() - began);
			// Other extensions may start a run without a prompt.
			const prompt = "prompt" in event ? typed(event.prompt) : "";
			const input = { hook_event_name: "UserPromptSubmit", prompt, ...knownOf(ctx) };
			const found = prompt ? await recall(input, leftMs) : "";
			const content = [started, found].filter(Boolean).join("\n\n");
			if (!content) return undefined;
			// A message and no change of the system prompt: it stands behind all that was sent before, which providers
			// have in their caches, and the session keeps it where it was said. People do not see it.
			return { message: { customType: "mcp-memory", content, display: false } };
		} catch {
			// A memory that fails must not keep anybody from working.
			return undefined;
		}
	});

	pi.on("agent_end", async (event, ctx) => {
		try {
			const now = heardIn(event.messages, ctx);
			if (now.messages.length === 0) return;
			heard.messages.push(...now.messages);
			heard.served.push(...now.served);
			const handed = handOver({ hook_event_name: "Stop", ...knownOf(ctx), ...now });
			capturing = Promise.all([capturing, handed.ended]).then(() => {});
			await within(HAND_OVER_MS, handed.taken);
		} catch {
			// The same.
		}
	});

	pi.on("session_shutdown", async (_event, ctx) => {
		try {
			const began = performance.now();
			// The end of a session is told after its last turn.
			await within(IN_ORDER_MS, capturing);
			const handed = handOver({ hook_event_name: "SessionEnd", ...knownOf(ctx), ...heard });
			await within(HAND_OVER_MS - (performance.now() - began), handed.taken);
		} catch {
			// The same.
		}
	});

	if (!WITH_TOOLS) return;

	/** What a command answers, as short as JSON can be; its message as the tool's error. */
	const ask = async (args: string[], signal: AbortSignal | undefined, stdin = "") => {
		const ran = await run(args, stdin, TOOL_MS, signal);
		if (ran.code !== 0) throw new Error(ran.errors.trim() || `mcp-memory ended with code ${ran.code}`);
		const text = JSON.stringify(JSON.parse(ran.output));
		return { content: [{ type: "text" as const, text }], details: {} };
	};

	const textField = (description: string) => ({ type: "string", description });
	// Plain JSON schemas: nothing of Pi's need be imported for them.
	const object = (properties: Json, required: string[]) => ({ type: "object", properties, required }) as never;

	pi.registerTool({
		name: "search_memory",
		label: "Search memory",
		description:
			"Search the user's long-term memory. Returns quoted past statements, best first, with id, who and when.",
		promptSnippet: "Search the user's long-term memory, which all agents share",
		parameters: object(
			{
				query: textField("What to find, in plain words"),
				top_k: { type: "integer", minimum: 1, maximum: 100, default: 10, description: "Most hits to return" },
				scope: {
					type: "string",
					enum: ["all", "user", "agent"],
					description: "user: about the user. agent: about you",
				},
			},
			["query"],
		),
		async execute(_id: string, given: { query: string; top_k?: number; scope?: string }, signal?: AbortSignal) {
			const top_k = given.top_k ? ["--top-k", String(given.top_k)] : [];
			const scope = given.scope ? ["--scope", given.scope] : [];
			return ask(["search", "--json", ...top_k, ...scope, "--", given.query], signal);
		},
	});

	pi.registerTool({
		name: "add_memory",
		label: "Add to memory",
		description: "Remember a text or messages; durable and searchable at once. Returns what became of each.",
		promptSnippet: "Remember what the user says of lasting use",
		parameters: object({ text: textField("One statement that stands alone") }, ["text"]),
		async execute(_id: string, given: { text: string }, signal?: AbortSignal) {
			// Over standard input: a text may be longer than an argument, and arguments are seen by everybody.
			return ask(["add", "--infer", "--json", "-"], signal, given.text);
		},
	});

	pi.registerTool({
		name: "delete_memory",
		label: "Delete a memory",
		description: "Delete one memory by id.",
		promptSnippet: "Delete one memory by its id",
		parameters: object({ memory_id: textField("id of a hit") }, ["memory_id"]),
		async execute(_id: string, given: { memory_id: string }, signal?: AbortSignal) {
			return ask(["delete", "--json", "--", given.memory_id], signal);
		},
	});
}
