from __future__ import annotations

from decimal import Decimal

import click
import pytest

from assay.cli.options import config_values, money
from assay.cli.output import PIPE_WIDTH, console, print_json, print_json_lines, shown


def test_config_pairs_become_a_mapping_and_values_keep_their_equal_signs():
    assert config_values(None, None, ("a=1", "b=x=y", "c=")) == {"a": "1", "b": "x=y", "c": ""}


@pytest.mark.parametrize("pair", ["a", "=1", ""])
def test_a_pair_without_a_key_or_a_value_is_refused(pair):
    with pytest.raises(click.BadParameter, match="not of the form key=value"):
        config_values(None, None, (pair,))


@pytest.mark.parametrize(("text", "amount"), [("0.10", "0.10"), ("$2", "2"), ("0", "0"), ("1e-3", "0.001")])
def test_money_is_exact(text, amount):
    assert money(None, None, text) == Decimal(amount)


@pytest.mark.parametrize("text", ["", "ten", "-1", "nan", "inf", "1,50"])
def test_what_is_no_amount_of_money_is_refused(text):
    with pytest.raises(click.BadParameter, match="US dollars"):
        money(None, None, text)


def test_no_limit_is_no_amount():
    assert money(None, None, None) is None


@pytest.mark.parametrize(
    ("columns", "width"), [("60", 60), ("300", 100), ("5", PIPE_WIDTH), ("wide", PIPE_WIDTH), ("", PIPE_WIDTH)]
)
def test_columns_sets_the_width_up_to_100_and_a_pipe_has_none(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert console().width == width


def test_json_is_one_document_or_one_object_per_line(capfdbinary):
    print_json({"cost_usd": Decimal("0.5")})
    assert capfdbinary.readouterr().out == b'{\n  "cost_usd": 0.5\n}\n'
    print_json_lines({"run": name} for name in "ab")
    assert capfdbinary.readouterr().out == b'{"run":"a"}\n{"run":"b"}\n'


def test_messages_keep_their_lines_and_lose_their_control_characters():
    assert shown("one\n\x1b[2Jtwo\u202e") == "one\n [2Jtwo "
