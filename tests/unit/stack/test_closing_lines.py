from __future__ import annotations

from pathlib import Path

from stack.demo.pipeline import closing_lines


def test_commands_are_named_where_a_plan_has_them(tmp_path: Path) -> None:
    published = {"describe_ending": ["Verdict: nothing to do"], "folder": str(tmp_path)}
    assert closing_lines(published) == ["Verdict: nothing to do"]
    for name in ("report.html", "plan.json"):
        (tmp_path / name).write_text("")
    verdict, report, plan = closing_lines(published)
    assert (verdict, plan) == ("Verdict: nothing to do", f"plan:   {tmp_path}/plan.json")
    assert report == f"report: {tmp_path}/report.html (read this first)"
    (tmp_path / "commands.md").write_text("# Commands")
    assert closing_lines(published)[-1].startswith(f"to do:  {tmp_path}/commands.md")


def test_what_lies_below_this_folder_is_told_from_here(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "report.html").write_text("")
    _, report = closing_lines({"describe_ending": [""], "folder": str(tmp_path / "demo")})
    assert report == "report: demo/report.html (read this first)"
