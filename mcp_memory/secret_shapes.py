"""Secrets that have a shape of their own: keys and tokens of services, private keys, passwords in addresses."""

from collections.abc import Iterator

import regex

from .records import Secret

# Prefixes that only keys have. After the first list come letters and digits, after the second also "-" and "_".
_PLAIN_PREFIXES = r"""sk_live_ sk_test_ rk_live_ rk_test_ ghp_ gho_ ghu_ ghs_ ghr_ hf_ npm_ dop_v1_ doo_v1_ dor_v1_
    shpat_ shpca_ shppa_ shpss_ lin_api_ gsk_ r8_ sbp_ rubygems_ ntn_ dapi pplx- xai- sk- figd_ PMAK- NRAK-
    AGE-SECRET-KEY-1"""
_JOINED_PREFIXES = r"""sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- github_pat_ glpat- gldt- glrt- glptt- glcbt- AIza
    ya29\. GOCSPX- eyJ hvs\. tskey- dckr_pat_ glsa_ sntrys_ pscale_tkn_ pscale_pw_ ATATT3 pypi-AgE dp\.pt\. xapp-
    mcpm_"""
_KEYS = rf"""(?:{"|".join(_PLAIN_PREFIXES.split())})[^\W_]{{16,}}+ whsec_[\w+/=]{{16,}}+ xox[a-z]-[\w-]{{10,}}+
    (?:{"|".join(_JOINED_PREFIXES.split())})[\w-]{{14,}}+(?:\.[\w-]++)*+ SG\.[\w-]{{16,64}}+\.[\w-]{{16,}}+
    sk-(?=[A-Za-z-]{{0,40}}\d)[\w-]{{20,}}+ pypi-\w{{32,}}+[\w-]*+ 1//0[\w-]{{30,}}+ mfa\.[\w-]{{60,}}+
    A[KS]IA[A-Z0-9]{{16,}}+ (?:(?:SK|AC|key-)[0-9a-f]{{32}}|[0-9a-f]{{32}}-us\d{{1,2}}|xprv[^\W_]{{100,}}+)(?![^\W_])"""
_URL = r"\b[a-z][a-z0-9+.-]{1,20}://"
# Where a pattern names a group `s`, the secret is that group and the words before it stay.
_SHAPES = tuple(
    (kind, regex.compile(pattern, regex.ASCII | regex.IGNORECASE))
    for kind, pattern in (
        # To its end, or when cut off: headers, long runs, and what is left of the last line.
        ("private key", r"""-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"""
         r"""(?:[^-]|-(?!----))*+-----END[ A-Z0-9]{0,40}(?:-----)?|"""
         r"""(?:(?:[\s>|"'+,]|\\+[nr])*+(?:[a-z]+-?[a-z]+: [^\n\\]*+|[a-z0-9+/=_-]{16,}+))*+"""
         r"""(?:(?:\s|\\+[nr])*+[a-z0-9+/]+=*(?=\s*$|\n))?)"""),
        ("key", rf"(?<![^\W_])(?-i:{'|'.join(_KEYS.split())})"),
        ("token", r"(?<![\w-])\d{8,12}:[\w-]{30,50}+(?![\w-])"),
        ("token", r"(?<![\w.-])[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{25,}+"),
        ("token", r"\b(?:hooks\.slack\.com/\w{4,12}|discord(?:app)?\.com/api/webhooks/\d{5,25})/(?P<s>[\w/-]{16,}+)"),
        ("token", r"""\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|digest|apikey)\s{1,3})?"""
         r"""(?P<s>(?!(?:bearer|basic|token|digest|apikey)\b)[^\s"'<>,;]{4,}+)"""),
        ("token", r"\b(?:bearer|basic)\s{1,3}(?P<s>(?=[a-z_.~+/-]{0,60}[\d=])[\w.~+/-]{16,}+=*+)"),
        ("token", r"\b(?:set-)?cookie:\s{0,3}(?P<s>[^\s=;]{1,60}=[^\n]{1,4000})"),
        ("url password", _URL + r"""[^\s/:@"'<>]{0,80}:(?P<s>[^\s/"'<>$\{][^\s/"'<>]{0,120})@"""),
        ("token", _URL + r"(?P<s>(?=[a-z_-]{0,60}\d)[\w-]{20,120}+)@"),
        ("token", r"""[?&#][\w-]{0,30}(?:token|api_?-?key|password|passwd|pwd|secret)=(?P<s>[^\s&#"'<>]{3,}+)"""),
        ("token", r"""[?&#](?:key|sig|signature|auth|code|credential|x-amz-\w+|session\w*)=(?P<s>[^\s&#"'<>]{16,}+)"""),
        ("password", r"""\bcurl\b[^\n]{0,120}?\s(?:-u|--user)[\s=]{1,3}["']?[^\s:"']{1,60}:(?P<s>[^\s"']{1,120})"""),
        ("password", r"""\b(?:credentials|log-?in|zugangsdaten)(?:\s(?:is|are|ist|sind)|:)\s{1,3}"""
         r"""[^\s:/|]{1,60}\s?[/|:]\s?(?P<s>(?=[^\sa-z]{0,60}[a-z])(?=[^\s\d]{0,60}\d)[^\s/][^\s,;"']{4,120})"""),
        ("password", r"""(?:--pass(?:word|wd|phrase)?\s{1,3}|\bsshpass\s-p\s?)["']?(?P<s>[^\s"'$=-][^\s"']{2,120})"""),
    )
)  # fmt: skip
_AWS_ID = regex.compile(r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}")
_AWS_SECRET = regex.compile(r"(?a)(?<![\w/+])(?=[^a-z]{0,39}[a-z])(?=[^A-Z]{0,39}[A-Z])[A-Za-z0-9/+]{40}(?![\w/+=])")
_NEAR_AWS = 300


def find_shapes(text: str) -> Iterator[Secret]:
    """What looks like a secret by itself, in no order; spans may overlap.

    >>> [secret.kind for secret in find_shapes("ftp://ana:tulip@example.org")]
    ['url password']
    """
    for kind, shape in _SHAPES:
        for match in shape.finditer(text):
            for start, end in match.spans("s") if "s" in shape.groupindex else match.spans():
                yield Secret(start, end, kind)
    searched = 0
    for match in _AWS_ID.finditer(text):
        begin, searched = max(searched, match.start() - _NEAR_AWS), match.end() + _NEAR_AWS
        for secret in _AWS_SECRET.finditer(text, begin, searched):
            yield Secret(*secret.span(), "key")
