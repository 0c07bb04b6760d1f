"""Text for people, to the letter."""

from dataclasses import replace

from tallystick.cli.faults import Fault
from tallystick.cli.output.text import LIMIT, change_lines, fault_lines, render
from tallystick.cli.report import Report, versions_in_words
from tallystick.compat.change import Change, ChangeKind
from tallystick.finding import Place
from tallystick.model.strategy import Strategy
from tests.unit.cli.reports import ACCEPTED, ADDED, NEW_TEXT, REFUSED, REMOVED, SINGLE, report


def plain(shown: Report, **options: object) -> str:
    return "\n".join(line.plain for line in render(shown, **options))  # type: ignore[arg-type]


def test_a_refusal_names_place_reason_versions_fix_and_rule() -> None:
    assert (
        plain(REFUSED)
        == """\
✗ order.avsc does not fit under FULL_TRANSITIVE: 2 findings
  compared with version 1 (order-v1.avsc), version 2 (order-v2.avsc)

order.avsc:1:1: field `note` was removed, and it had no default
  in order-v2.avsc:4:5
  4 |     {"name": "note"}
    |     ^^^^^^^^^^^^^^^^
  was     note
  breaks  readers with versions 1 and 2 cannot read records written with the new schema
  fix     keep field `note`
  rule    AVRO_FIELD_REMOVED_NEEDS_DEFAULT

order.avsc:4:5: field `price` was added without a default, so old records have no value for it
  4 |     {"name": "price"}
    |     ^^^^^^^^^^^^^^^^^
  now     price
  breaks  readers with the new schema cannot read records written with versions 1 and 2
  fix     give field `price` a default
  rule    AVRO_FIELD_ADDED_NEEDS_DEFAULT

Changes from order-v2.avsc to order.avsc
  - field `note` of record `Order`: "string"  [breaks FORWARD, FULL]
  + field `price` of record `Order`: "long"  [breaks BACKWARD, FULL]
  ~ type of field `id` of record `Order` widened: "int" → "long"  [breaks nothing]

Look up a rule: tally rules AVRO_FIELD_REMOVED_NEEDS_DEFAULT"""
    )


def test_an_acceptance_is_short() -> None:
    assert (
        plain(ACCEPTED)
        == """\
✓ order.avsc fits under FULL_TRANSITIVE
  compared with version 1 (order-v1.avsc), version 2 (order-v2.avsc)

No changes from order-v2.avsc to order.avsc"""
    )


def test_a_single_file_is_called_valid() -> None:
    assert plain(SINGLE) == "✓ order.avsc is a valid schema of type AVRO"


def test_versions_that_do_not_count_are_mentioned() -> None:
    shown = plain(report(versions=3, strategy=Strategy.FULL), diff=False).splitlines()
    assert shown[1] == ("  compared with version 3 (order-v3.avsc); earlier versions count under FULL_TRANSITIVE only")


def test_many_versions_are_summed_up() -> None:
    shown = plain(report(versions=40), diff=False).splitlines()
    assert shown[1] == "  compared with version 1 (order-v1.avsc) to version 40 (order-v40.avsc)"


def test_findings_that_differ_only_in_direction_are_one() -> None:
    both = replace(ADDED, direction=REMOVED.direction)
    shown = plain(report(ADDED.against(1), both.against(1), versions=1), diff=False)
    assert "1 finding\n" in shown
    assert "readers with the new schema cannot read records written with version 1 (order-v1.avsc)" in shown
    assert "readers with version 1 (order-v1.avsc) cannot read records written with the new schema" in shown


def test_a_long_list_is_cut_and_says_how_to_see_all() -> None:
    many = [replace(ADDED, message=f"finding {i}").against(1) for i in range(LIMIT + 5)]
    shown = plain(report(*many, versions=1), diff=False)
    assert f"{LIMIT + 5} findings" in shown.splitlines()[0]
    assert "… and 5 more findings; --all shows them" in shown
    assert f"finding {LIMIT}" not in shown
    assert f"finding {LIMIT + 4}" in plain(report(*many, versions=1), diff=False, limit=None)


def test_a_narrow_terminal_wraps_sentences_and_keeps_places_whole() -> None:
    lines = plain(REFUSED, width=40).splitlines()
    assert max(len(line) for line in lines) <= 44  # the longest word is a rule id
    assert lines[0] == "✗ order.avsc does not fit under"
    assert any(line.startswith("order.avsc:4:5: ") for line in lines)
    at = lines.index("  fix     give field `price` a default")
    assert lines[at - 2 : at] == ["          cannot read records written", "          with versions 1 and 2"]


def test_texts_from_a_schema_stay_on_one_line_and_harmless() -> None:
    nasty = replace(ADDED, message="a\n::error::b\x1b[2J", was="x\ty")
    shown = plain(report(nasty.against(1), versions=1), diff=False)
    assert "order.avsc:4:5: a ::error::b�[2J" in shown
    assert "\x1b" not in shown


def test_a_place_without_a_line_is_told_by_its_path() -> None:
    shown = plain(report(replace(ADDED, new=Place("/fields/1")).against(1), versions=1), diff=False)
    assert "order.avsc: at /fields/1: field `price` was added" in shown


def test_a_fault_looks_like_a_compilers() -> None:
    fault = Fault(
        code="invalid-schema", reason="two fields are called `id`", file="order.avsc", place=Place("", 3, 14),
        fix="rename one of them", text=NEW_TEXT,
    )  # fmt: skip
    assert [line.plain for line in fault_lines(fault)] == [
        "order.avsc:3:14: error: two fields are called `id`",
        '  3 |     {"name": "id"},',
        "    |              ^^^^",
        "  fix     rename one of them",
    ]


def test_a_fault_without_a_file_is_told_by_the_command() -> None:
    assert [line.plain for line in fault_lines(Fault(code="x", reason="no"))] == ["tally: error: no"]


def test_a_change_that_is_a_finding_reads_as_a_sentence() -> None:
    change = Change(kind=ChangeKind.CHANGED, what="the limit fell.", was="9", now=None)
    assert [line.plain for line in change_lines(change, Strategy.FULL)] == [
        "  ~ the limit fell: 9 → nothing  [breaks nothing]"
    ]


def test_versions_in_words() -> None:
    assert versions_in_words([2]) == "version 2"
    assert versions_in_words([3, 1, 2, 2]) == "versions 1–3"
    assert versions_in_words([1, 2]) == "versions 1 and 2"
    assert versions_in_words([1, 2, 3, 5, 9]) == "versions 1–3, 5 and 9"
    assert versions_in_words([None]) == "the old schema"


def test_a_finding_that_is_no_matter_of_reading_breaks_none() -> None:
    shown = plain(report(replace(ADDED, direction=None).against(1), versions=1), diff=False)
    assert "breaks" not in shown
    assert "  rule    AVRO_FIELD_ADDED_NEEDS_DEFAULT" in shown


def test_a_place_whose_name_starts_like_another_is_not_around_it() -> None:
    renamed = replace(ADDED, old=Place("shop.Order.price_cents", 4, 5), new=Place("shop.Order.price", 4, 5))
    shown = plain(report(renamed.against(1), versions=1), diff=False)
    assert shown.count("^^^") > 0
    assert '{"name": "price"}' in shown
    assert '{"name": "note"}' in shown
