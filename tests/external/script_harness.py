"""A small agent with one tool that speaks chat completions; MODE names what is odd about it. Standard library alone."""

import json
import os
import subprocess
import sys
import time
import urllib.request

MODE = os.environ.get("MODE", "")
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
FUNCTION = {"name": "bash", "description": "Run a command with bash.", "parameters": PARAMETERS}
TOOLS = [{"type": "function", "function": FUNCTION}]
SYSTEM = {"role": "system", "content": "You work with a shell."}


def ask(messages, tools=TOOLS):
    body = {"model": os.environ["MODEL"], "messages": messages, "temperature": 0.3}
    if tools:
        body["tools"] = tools
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["KEY"]}
    url = os.environ["BASE_URL"] + "/v1/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)["choices"][0]["message"]


def run(command):
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    text = done.stdout + done.stderr
    if MODE == "cut" and len(text) > 100:
        return text[:100] + "\n[" + str(len(text) - 100) + " characters truncated]"
    return text or "(no output)"


def remembered(reply):
    kept = dict(reply)
    thought = kept.get("reasoning_content")
    if MODE in ("drop", "move"):
        kept.pop("reasoning_content", None)
    if MODE == "move" and thought:
        kept["content"] = "<think>" + thought + "</think>" + (kept.get("content") or "")
    return kept


def misbehave():
    if MODE == "crash":
        sys.exit("the agent has lost its way, key " + os.environ["KEY"])
    if MODE == "code":
        sys.exit(53)
    if MODE == "hang":
        time.sleep(600)
    if MODE == "die":
        os.kill(os.getpid(), 9)
    if MODE == "hungry":
        held = bytearray(6 << 30)
        for place in range(0, len(held), 4096):
            held[place] = 1
    if MODE == "daemon":
        subprocess.Popen(["setsid", "sleep", os.environ["SECONDS_LEFT"]], stdin=subprocess.DEVNULL)


def compacted(messages, task):
    request = {"role": "user", "content": "Sum up what was done so far."}
    summary = ask([*messages, request], [])["content"]
    return [SYSTEM, {"role": "user", "content": task + "\n\nWhat was done before:\n" + summary}]


def main(task):
    messages = [SYSTEM, {"role": "user", "content": task}]
    if MODE == "silent":
        return
    if MODE == "titled":
        ask([{"role": "system", "content": "Find a title."}, {"role": "user", "content": task}], [])
    turn = 0
    while True:
        reply = ask(messages)
        if turn == 0:
            misbehave()
        messages.append(remembered(reply))
        calls = reply.get("tool_calls") or []
        if not calls:
            print(reply.get("content"))
            return
        for call in calls:
            command = json.loads(call["function"]["arguments"]).get("command", "")
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": run(command)})
        turn += 1
        if MODE == "compact" and turn == 2:
            messages = compacted(messages, task)


main(sys.argv[1])
