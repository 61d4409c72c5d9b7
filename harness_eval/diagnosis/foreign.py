"""Names of tools and parameters that public harnesses use, with where they come from: a model may expect them here."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TOOLS: Mapping[str, str] = {
    "Claude Code": "Bash BashOutput KillShell KillBash Read Write Edit MultiEdit Glob Grep LS NotebookEdit "
    "NotebookRead TodoWrite TodoRead Task TaskOutput WebFetch WebSearch ExitPlanMode EnterPlanMode SlashCommand Skill "
    "AskUserQuestion ListMcpResources ReadMcpResource",
    "Codex": "shell local_shell container.exec exec_command write_stdin apply_patch update_plan view_image "
    "request_user_input spawn_agent read_mcp_resource list_mcp_resources",
    "OpenHands": "execute_bash execute_ipython_cell str_replace_editor browser_navigate task_tracker finish think "
    "file_editor request_condensation",
    "SWE-agent": "str_replace_editor submit open goto scroll_up scroll_down search_dir search_file find_file create "
    "edit_anthropic",
    "Anthropic's text editor": "str_replace_based_edit_tool str_replace_editor computer code_execution text_editor",
    "Cline": "execute_command read_file write_to_file replace_in_file search_files list_files "
    "list_code_definition_names browser_action use_mcp_tool access_mcp_resource ask_followup_question "
    "plan_mode_respond attempt_completion new_task load_mcp_documentation",
    "Roo Code": "apply_diff insert_content search_and_replace switch_mode update_todo_list fetch_instructions "
    "codebase_search run_slash_command",
    "Cursor": "codebase_search grep_search file_search edit_file run_terminal_cmd list_dir delete_file reapply "
    "read_lints todo_write search_replace glob_file_search web_search create_diagram edit_notebook",
    "Windsurf": "view_file view_line_range view_code_item propose_code replace_file_content write_to_file "
    "find_by_name run_command command_status search_in_file suggested_responses",
    "Copilot": "run_in_terminal get_terminal_output replace_string_in_file multi_replace_string_in_file create_file "
    "insert_edit_into_file semantic_search get_errors manage_todo_list fetch_webpage create_directory test_search",
    "Gemini CLI": "run_shell_command read_file write_file replace search_file_content list_directory read_many_files "
    "google_web_search web_fetch save_memory write_todos activate_skill delegate_to_agent",
    "Kimi Code": "Shell ReadFile WriteFile StrReplaceFile SetTodoList SearchWeb FetchURL SendDMail ReadMediaFile "
    "CreateSubagent Think",
    "opencode": "bash read write edit multiedit patch list glob grep todowrite todoread webfetch websearch task "
    "codesearch question invalid lsp_diagnostics",
    "Goose": "developer__shell developer__text_editor text_editor platform__manage_schedule todo__todo_write",
    "Hermes": "terminal search_files patch execute_code session_search delegate_task memory todo vision_analyze "
    "web_extract clarify",
    "OpenClaw": "exec process sessions_spawn sessions_send canvas cron gateway",
    "Zed": "find_path thinking copy_path move_path diagnostics open_buffer now terminal",
    "Crush": "view fetch sourcegraph diagnostics download agentic_fetch job_output",
    "Trae": "sequentialthinking task_done json_edit_tool ckg",
    "deepagents": "write_todos ls edit_file execute",
    "Aider": "replace_lines",
}
_PARAMETERS: Mapping[str, str] = {
    "Claude Code": "file_path old_string new_string replace_all run_in_background subagent_type output_mode "
    "notebook_path",
    "opencode": "filePath oldString newString replaceAll workdir patchText",
    "Anthropic's text editor": "old_str new_str file_text insert_line view_range",
    "Gemini CLI": "absolute_path dir_path allow_multiple",
    "Kimi Code": "line_offset n_lines",
    "Codex": "cmd workdir justification yield_time_ms max_output_tokens with_escalated_permissions",
    "Cursor": "target_file instructions code_edit relative_workspace_path explanation should_read_entire_file "
    "start_line_one_indexed end_line_one_indexed_inclusive is_background target_directory",
    "Windsurf": "TargetFile AbsolutePath CommandLine SearchDirectory SearchPath Cwd",
    "Cline": "diff requires_approval regex file_pattern recursive",
    "Copilot": "startLine endLine isBackground includePattern",
    "OpenClaw": "oldText newText",
    "OpenHands": "security_risk is_input",
    "several": "path file filename file_name content contents command query pattern offset limit start_line end_line "
    "description timeout text url cwd old new",
}


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


_TOOL_ORIGINS = {_bare(name): origin for origin, names in reversed(list(_TOOLS.items())) for name in names.split()}
_EXACT_TOOLS = frozenset(name for names in _TOOLS.values() for name in names.split())
_PARAMETER_ORIGINS = {name: origin for origin, names in reversed(list(_PARAMETERS.items())) for name in names.split()}


def origin_of_tool(name: str) -> str:
    """A public harness that has a tool of this name, however it is written; "" if none is known."""
    return _TOOL_ORIGINS.get(_bare(name), "")


def origin_of_parameter(name: str) -> str:
    """A public harness whose tools have a parameter of exactly this name; "" if none is known."""
    return _PARAMETER_ORIGINS.get(name, "")


def is_public_tool(name: str) -> bool:
    """Whether some public harness has a tool of exactly this name."""
    return name in _EXACT_TOOLS


def likeness(name: str, other: str) -> bool:
    """Whether two parameter names mean the same by their letters or by one of their words."""
    words = [
        set(re.findall(r"[a-z]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1 \2", each).lower())) for each in (name, other)
    ]
    return _bare(name) == _bare(other) or bool(words[0] & words[1])
