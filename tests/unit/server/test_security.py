"""The file of users and tokens, and the secrets in it."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tallystick.access import Action, Grant
from tallystick.cli.serve import secret
from tallystick.errors import InvalidArgument, Unauthenticated
from tallystick.server.security import Account, Accounts, FileAuthentication, hashed, is_secret, load

HASH = hashed("right")


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def test_a_hash_knows_its_secret_and_no_other() -> None:
    assert is_secret("right", HASH)
    assert not is_secret("wrong", HASH)
    assert hashed("right") != HASH


def test_a_file_gives_accounts_with_grants(tmp_path: Path) -> None:
    roles = [{"role": "read"}, {"role": "register", "on": "orders-*"}]
    content = {"users": {"ann": {"password": HASH, "roles": roles}}, "anonymous": {"roles": []}}
    accounts = load(written(tmp_path / "f.yaml", content))
    assert accounts.users["ann"].principal.grants == (Grant(Action.READ), Grant(Action.REGISTER, "orders-*"))
    assert accounts.anonymous is not None
    assert accounts.tokens == {}


def test_a_pattern_needs_no_quotes_though_yaml_reads_as_true_what_names_it(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"tokens: {{ci: {{secret: '{HASH}', roles: [{{role: register, on: 'orders-*'}}]}}}}")
    assert load(path).tokens["ci"].principal.grants == (Grant(Action.REGISTER, "orders-*"),)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not YAML"),
        ("[]", "users, tokens and anonymous"),
        ({}, "users, tokens and anonymous"),
        ({"user": {}}, "users, tokens and anonymous"),
        ({"users": ["ann"]}, "maps names"),
        ({"users": {"ann": {"password": "plain", "roles": []}}}, "hash"),
        ({"users": {"ann": {"password": "scrypt$3$8$1$AA==$AA==", "roles": []}}}, "hash"),
        ({"users": {"ann": {"password": "scrypt$1048576$32$1$AA==$AA==", "roles": []}}}, "hash"),
        ({"users": {"ann": {"password": HASH}}}, "roles is a list"),
        ({"users": {"ann": {"password": HASH, "roles": [{"role": "king"}]}}}, "no role"),
        ({"users": {"ann": {"password": HASH, "roles": [{"role": "read", "at": "x"}]}}}, "no role"),
        ({"users": {"ann": {"password": HASH, "roles": [], "mail": "x"}}}, "nothing else"),
        ({"tokens": {"a.b": {"secret": HASH, "roles": []}}}, "no dot"),
    ],
)
def test_a_file_that_is_wrong_is_told_where(tmp_path: Path, content: Any, told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        load(written(tmp_path / "f.yaml", content))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="cannot be read"):
        load(tmp_path / "none.yaml")


def test_what_was_verified_is_known_from_then_on(tmp_path: Path) -> None:
    accounts = load(written(tmp_path / "f.yaml", {"tokens": {"ci": {"secret": HASH, "roles": []}}}))
    authentication = FileAuthentication(accounts)
    headers = {"authorization": "Bearer ci.right"}
    assert authentication.known(headers) is None
    assert authentication.verify(headers).name == "ci"
    known = authentication.known(headers)
    assert known is not None
    assert known.name == "ci"


def test_a_wrong_secret_stays_wrong() -> None:
    account = Account(load_principal(), HASH)
    authentication = FileAuthentication(Accounts(tokens={"ci": account}))
    for _ in range(2):
        with pytest.raises(Unauthenticated):
            authentication.verify({"authorization": "Bearer ci.wrong"})
    assert authentication.known({"authorization": "Bearer ci.wrong"}) is None


def load_principal() -> Any:
    from tallystick.access import Principal

    return Principal("ci")


def test_the_command_hashes_a_password_and_makes_tokens() -> None:
    asked = CliRunner().invoke(secret, input="pw\npw\n")
    assert is_secret("pw", asked.stdout.strip().splitlines()[-1])
    made = dict(line.split(": ") for line in CliRunner().invoke(secret, ["--token", "ci"]).stdout.splitlines())
    name, _, value = made["bearer"].partition(".")
    assert name == "ci"
    assert is_secret(value, made["secret"])
