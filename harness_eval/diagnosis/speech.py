"""What a model's closing words are, and what a harness told it, as far as the words alone can say.

All of it is conservative: words that may mean something else mean nothing here.
"""

from __future__ import annotations

import re

_LONGEST = 400  # characters of a sentence that can still be an announcement or a question

_LEAD_IN = r"(?:(?:ok(?:ay)?|now|next|then|so|first|great|good|right|all right|alright|perfect)[,.:]?\s+)*"
_WILL = r"(?:I(?:['’]ll| will)|I(?:['’]m| am) going to|let me|let['’]s|we(?:['’]ll| will))"
_ANNOUNCED = re.compile(rf"{_LEAD_IN}{_WILL}\s+(?:(?:now|next|then|first|also|just)\s+)*([a-z]+)", re.IGNORECASE)
_ANNOUNCED_ELSEWHERE = re.compile(r"(?:接下来|下一步|现在)[,\uff0c]?\s*我|让我(?!知道)")
_NO_STEP = re.compile(
    r"know|be|stop|leave|wait|summari[sz]e|explain|conclude|end|finish|remember|keep|not|never|assume|hand|say|happily"
    r"|gladly|stay",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:what|which|how|where)\b.{0,80}\b(?:would you (?:like|prefer)|do you (?:want|prefer)|should I|shall I)"
    r"|(?:would you like|do you want) me to\b|\b(?:should|shall|may) I\b"
    r"|\b(?:could|can|would) you (?:please )?(?:provide|share|confirm|clarify|specify|tell|give|upload|paste|show)\b"
    r"|你(?:想|希望|需要)(?:我|让我)|请问|是否需要我",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"please (?:provide|share|confirm|clarify|specify|tell me|upload|paste)\b|请(?:提供|确认|告诉我)", re.IGNORECASE
)
_OFFER = re.compile(
    r"\b(?:also|anything else|something else|further|additional|more|another)\b|其他|还需要", re.IGNORECASE
)
_DONE = re.compile(
    r"\b(?:done|complete|completed|finished|fixed|solved|saved|wrote|written|created|updated|implemented)\b|完成",
    re.IGNORECASE,
)
_CLAIMED = re.compile(
    r"\bI(?:['’]ve| have)?(?: just| already| now)? "
    r"(searched|ran|run|executed|opened|read|fetched|browsed|edited|created|wrote|written|updated|checked|tested|"
    r"installed|looked up|modified|saved|queried|called)\b"
)
_UNCHANGED = re.compile(
    r"(?:unchanged|not changed|no changes?|hasn['’]t changed) since"
    r"|(?:file|contents?|result|output) (?:is|are|has|have) (?:not changed|unchanged|identical|the same as)"
    r"|already (?:been )?(?:read|shown|in (?:the |your )?context)|see the earlier (?:result|read|output)",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\b(?:truncated|characters (?:left out|omitted|not kept|not shown)|lines (?:left out|omitted|not shown)|"
    r"output too long|remaining (?:lines|characters|output) (?:omitted|not shown))\b",
    re.IGNORECASE,
)
_MENTIONS_CUT = re.compile(r"truncat|\bcut\b|partial|left out|omitted|incomplete|\brest of\b|first \d+", re.IGNORECASE)
_STOP = re.compile(
    r"(?:budget|limit|maximum)\b.{0,60}\b(?:over|reached|exceeded|exhausted|used up|spent)\b"
    r"|\b(?:no (?:more|further)|without (?:any )?(?:more |further )?|(?:do not|don['’]t) (?:make|call|use))"
    r"\W{0,3}(?:any )?(?:more )?(?:further )?(?:tool )?(?:tools?|calls?)\b"
    r"|\btools? (?:are|is) (?:disabled|no longer available)",
    re.IGNORECASE,
)
_LONGEST_NOTICE = 600  # characters; a longer result is content that speaks of such things
_THOUGHT = r"(?:reasoning|thinking|thoughts?)(?: content)?"
_AWAY = r"(?: (?:is |was )?(?:unavailable|not available|omitted|hidden|redacted|removed|encrypted|placeholder))"
_PLACEHOLDER = re.compile(
    rf"[\[(<{{*]\s*(?:no |empty )?{_THOUGHT}{_AWAY}?\s*[\])>}}*]|(?:no|empty) {_THOUGHT}|{_THOUGHT}{_AWAY}"
    r"|\.{2,}|…|\[(?:empty|none|redacted|omitted)\]|\(empty(?: content)?\)",
    re.IGNORECASE,
)


def _last_sentence(text: str) -> str:
    plain = re.sub(r"[*_`#>]+", "", text).strip()
    sentences = [
        part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+|(?<=[\u3002\uff01\uff1f])", plain) if part.strip()
    ]
    return sentences[-1] if sentences and len(sentences[-1]) <= _LONGEST else ""


def announces(text: str) -> bool:
    """Whether a text ends with what will be done next: a sentence in the future tense, or a colon."""
    last = _last_sentence(text)
    if last.endswith((":", "\uff1a")):
        return True
    match = _ANNOUNCED.match(last)
    return not _NO_STEP.fullmatch(match[1]) if match else bool(_ANNOUNCED_ELSEWHERE.match(last))


def asks(text: str) -> bool:
    """Whether a text ends with a question to the user that the work depends on; an offer after it is done is none."""
    last = _last_sentence(text)
    asked = (last.endswith(("?", "\uff1f")) and _QUESTION.search(last)) or _REQUEST.match(last)
    return bool(asked) and not _OFFER.search(last) and not _DONE.search(text)


def claimed(text: str) -> str:
    """What a text says in the first person to have done with a tool, in its own words; "" where it says nothing."""
    match = _CLAIMED.search(text)
    return match[0] if match else ""


def says_unchanged(result: str | None) -> bool:
    """Whether a result is a notice in place of content that the model has had before."""
    return result is not None and len(result) <= _LONGEST_NOTICE and bool(_UNCHANGED.search(result))


def says_cut(result: str | None) -> bool:
    """Whether a result says that a part of it is missing."""
    return result is not None and bool(_CUT.search(result))


def mentions_cut(text: str) -> bool:
    """Whether a text speaks of something that is missing."""
    return bool(_MENTIONS_CUT.search(text))


def tells_to_stop(notice: str) -> bool:
    """Whether the harness says that no call is wanted any more."""
    return bool(_STOP.search(notice))


def is_placeholder(thinking: str) -> bool:
    """Whether reasoning is nothing but a word that stands for it."""
    return bool(_PLACEHOLDER.fullmatch(thinking.strip()))
