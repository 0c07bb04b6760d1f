"""Where the rules come from."""

GUIDE = "Protocol Buffers language guide, Updating a Message Type"
GUIDE_2 = "Protocol Buffers language guide (proto2), Updating a Message Type"
EDITIONS = "Protocol Buffers, Feature Settings for Editions"
ENCODING = "Protocol Buffers, Encoding"
ENUMS = "Protocol Buffers, Enum Behavior"
