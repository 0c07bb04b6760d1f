"""Who may do what: principals with grants, and one decision function."""

from tallystick.access.decision import ANYBODY, Action, Caller, Grant, Principal, is_allowed, reads_everything, require

__all__ = ["ANYBODY", "Action", "Caller", "Grant", "Principal", "is_allowed", "reads_everything", "require"]
