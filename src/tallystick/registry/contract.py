"""Data contracts: metadata and rule sets that come with a schema, those of the version before it, and those that the
settings add to it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tallystick.model.definition import SchemaDefinition

_RULE_LISTS = ("migrationRules", "domainRules", "encodingRules")


def with_contract(definition: SchemaDefinition, contract: Mapping[str, Any]) -> SchemaDefinition:
    """The definition with the defaults below what it says itself and the overrides above."""
    if not contract:
        return definition
    metadata = _metadata(
        contract.get("defaultMetadata"), _loaded(definition.metadata), contract.get("overrideMetadata")
    )
    rule_set = merged_rules(
        contract.get("defaultRuleSet"), _loaded(definition.rule_set), contract.get("overrideRuleSet")
    )
    return replace(definition, metadata=canonical_json(metadata), rule_set=canonical_json(rule_set))


def with_inherited(definition: SchemaDefinition, before: SchemaDefinition | None) -> SchemaDefinition:
    """The definition with the contract of the version before it, as far as it says nothing itself.

    Serializers know the text alone: registering it must not take away what others agreed upon.
    """
    if before is None:
        return definition
    return replace(
        definition,
        metadata=definition.metadata if definition.metadata is not None else before.metadata,
        rule_set=definition.rule_set if definition.rule_set is not None else before.rule_set,
    )


def canonical_json(value: Any) -> str | None:
    """JSON text that is equal for equal values, so that it can be part of an identity; None for nothing."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if value else None


def _loaded(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _metadata(*layers: Mapping[str, Any] | None) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in (layer or {}).items():
            if isinstance(value, dict):
                merged[key] = {**merged.get(key, {}), **value}
            elif isinstance(value, list):
                merged[key] = sorted({*merged.get(key, []), *value})
            else:
                merged[key] = value
    return merged


def merged_rules(*layers: Mapping[str, Any] | None) -> dict[str, Any]:
    """Rules by name: a later layer's rule takes the place of an earlier one's."""
    merged = {key: value for layer in layers for key, value in (layer or {}).items() if key not in _RULE_LISTS}
    for kind in _RULE_LISTS:
        by_name = {rule["name"]: rule for layer in layers for rule in (layer or {}).get(kind) or []}
        if by_name:
            merged[kind] = list(by_name.values())
    return merged
