"""Reads and writes the protocol's messages with the official SDK's own types, for a test that compares.

Takes one JSON object on each line of its input, {"do": NAME, ...}, and answers each with one line:
the answer, or {"error": TEXT} when the official code refuses what it was given. Bytes are in hexadecimal.

    describe      {package}         what the SDK's descriptors say, one text for each field, value and method
    describe_set  {set, package}    the same for a FileDescriptorSet, after protobuf has accepted it
    required                        which fields the definition marks as required
    corpus                          every message: empty, with each field alone, and with all of them, once
                                    for each member of each oneof
    json      {message, text}       a message read from JSON: {protobuf, json, snake}
    protobuf  {message, bytes}      a message read from protobuf: {protobuf, json, snake}
    same      {message, text, bytes}  whether both, each optional, read as {protobuf: bytes} does
    schema    {package}             JSON schemas by the names of messages, made from the descriptors, or from the models of the
                                    JSON of 0.3 for the package `kind`; members that the definition does not have are refused
    unknown   {package, message, bytes}  the numbers of fields, with their paths, that the definition does not have
    sign      {card, key, alg, kid}   the card with a signature of the private key, which is PEM
    verify    {card, key, alg}      whether a signature of the card is that of the public key: true, or the error
"""

import builtins
import functools
import json
import sys

from a2a.compat.v0_3 import a2a_v0_3_pb2
from a2a.compat.v0_3 import types as types_v0_3
from a2a.types import a2a_pb2
from a2a.utils import signing
from google.api import field_behavior_pb2
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
)
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.unknown_fields import UnknownFieldSet
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

PACKAGE = 'lf.a2a.v1'

# That of version 0.3, which the SDK keeps beside it.
PACKAGE_V0_3 = 'a2a.v1'

KINDS = {
    number: name.removeprefix('TYPE_').lower()
    for name, number in vars(FieldDescriptor).items()
    if name.startswith('TYPE_')
}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = ACTIONS[request.pop('do')](**request)
        except Exception as error:  # What the official code refuses is an answer like any other.
            answer = {'error': f'{type(error).__name__}: {error}'}
        print(json.dumps(answer), flush=True)


# Descriptors.


def describe(package: str = PACKAGE) -> list[str]:
    file = {PACKAGE: a2a_pb2, PACKAGE_V0_3: a2a_v0_3_pb2}[package]
    return list(describe_file(file.DESCRIPTOR))


def describe_set(set: str, package: str = PACKAGE) -> list[str]:
    files = descriptor_pb2.FileDescriptorSet.FromString(bytes.fromhex(set))
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    described = []
    for file in files.file:
        if file.package == package:
            described.extend(describe_file(pool.FindFileByName(file.name)))
    return described


def describe_file(file):
    for message in file.message_types_by_name.values():
        yield f'message {message.full_name}'
        for field in message.fields:
            yield describe_field(message, field)
    for enum in file.enum_types_by_name.values():
        for value in enum.values:
            yield f'enum {enum.full_name} {value.name} = {value.number}'
    for service in file.services_by_name.values():
        for method in service.methods:
            stream = 'stream ' if method.server_streaming else ''
            yield (
                f'method {service.full_name}.{method.name} '
                f'{method.input_type.full_name} -> {stream}{method.output_type.full_name}'
            )


def describe_field(message, field) -> str:
    label = 'repeated' if field.is_repeated else 'plain'
    oneof = field.containing_oneof
    # What is declared optional is, to protobuf, a oneof of one field.
    if oneof is not None and oneof.name == f'_{field.name}' and len(oneof.fields) == 1:
        label, oneof = 'optional', None
    words = [
        f'field {message.full_name}.{field.name} = {field.number}',
        f'json {field.json_name}',
        label,
        describe_kind(field),
    ]
    if oneof is not None:
        words.append(f'oneof {oneof.name}')
    return ' '.join(words)


def describe_kind(field) -> str:
    if field.message_type and field.message_type.GetOptions().map_entry:
        entry = field.message_type.fields_by_name
        return f'map<{describe_kind(entry["key"])}, {describe_kind(entry["value"])}>'
    if field.message_type:
        return field.message_type.full_name
    if field.enum_type:
        return field.enum_type.full_name
    return KINDS[field.type]


def required() -> list[str]:
    """The fields that the protocol's definition marks as required."""
    behavior = field_behavior_pb2.field_behavior
    return [
        f'{message.full_name}.{field.name}'
        for message in a2a_pb2.DESCRIPTOR.message_types_by_name.values()
        for field in message.fields
        if field_behavior_pb2.REQUIRED in field.GetOptions().Extensions[behavior]
    ]


# Messages.


def message_class(name: str):
    descriptor = a2a_pb2.DESCRIPTOR.message_types_by_name[name]
    return message_factory.GetMessageClass(descriptor)


def from_text(name: str, text: str):
    # As the SDK reads requests: members that it does not know are no error.
    return json_format.Parse(text, message_class(name)(), ignore_unknown_fields=True)


def from_bytes(name: str, encoded: str):
    return message_class(name).FromString(bytes.fromhex(encoded))


def forms(message) -> dict:
    snake = json_format.MessageToJson(message, preserving_proto_field_name=True)
    return {
        'message': message.DESCRIPTOR.name,
        'protobuf': message.SerializeToString(deterministic=True).hex(),
        'json': json_format.MessageToJson(message),
        'snake': snake,
    }


def same(message: str, protobuf: str, text: str, bytes: str) -> dict:
    original = from_bytes(message, protobuf)
    return {
        'json': from_text(message, text) == original,
        'protobuf': from_bytes(message, bytes) == original,
    }


# Schemas.


def schema(package: str) -> dict:
    if package == 'kind':
        return schema_of_models()
    file = file_of(package)
    return {
        message.name: schema_of_message(message)
        for message in file.DESCRIPTOR.message_types_by_name.values()
    }


def file_of(package: str):
    return {PACKAGE: a2a_pb2, PACKAGE_V0_3: a2a_v0_3_pb2}[package]


def schema_of_message(message) -> dict:
    behavior = field_behavior_pb2.field_behavior
    required = [
        field.json_name
        for field in message.fields
        if field_behavior_pb2.REQUIRED in field.GetOptions().Extensions[behavior]
    ]
    # At most one member of a choice.
    both = [
        {'required': [one.json_name, other.json_name]}
        for oneof in message.oneofs
        for place, one in enumerate(oneof.fields)
        for other in oneof.fields[place + 1 :]
    ]
    return {
        'type': 'object',
        'properties': {field.json_name: schema_of_field(field) for field in message.fields},
        'required': required,
        'additionalProperties': False,
        **({'not': {'anyOf': both}} if both else {}),
    }


def schema_of_field(field) -> dict:
    kind = value_kind(field)
    if kind is not field:
        return {'type': 'object', 'additionalProperties': schema_of_kind(kind)}
    if field.is_repeated:
        return {'type': 'array', 'items': schema_of_kind(field)}
    return schema_of_kind(field)


def schema_of_kind(field) -> dict:
    if field.enum_type:
        return {'enum': [value.name for value in field.enum_type.values]}
    if field.message_type is None:
        return SCALAR_SCHEMAS[KINDS[field.type]]
    own = {'$ref': f'#/$defs/{field.message_type.name}'}
    return WELL_KNOWN_SCHEMAS.get(field.message_type.full_name, own)


SCALAR_SCHEMAS = {
    'string': {'type': 'string'},
    'bytes': {'type': 'string', 'pattern': '^[A-Za-z0-9+/]*=*$'},
    'bool': {'type': 'boolean'},
    'int32': {'type': 'integer'},
    'int64': {'type': 'string', 'pattern': '^-?[0-9]+$'},
}

WELL_KNOWN_SCHEMAS = {
    'google.protobuf.Timestamp': {'type': 'string', 'pattern': '^[0-9-]{10}T[0-9:.]+Z$'},
    'google.protobuf.Struct': {'type': 'object'},
    'google.protobuf.Value': {},
}


def schema_of_models() -> dict:
    """What version 0.3 defines as JSON, as the models of the SDK have it."""
    models = [
        (model, 'validation')
        for model in vars(types_v0_3).values()
        if isinstance(model, type) and issubclass(model, BaseModel)
    ]
    _, schemas = models_json_schema(models, by_alias=True)
    for definition in schemas['$defs'].values():
        if 'properties' in definition:
            definition['additionalProperties'] = False
    return schemas['$defs']


def unknown(package: str, message: str, bytes: str) -> list[str]:
    descriptor = file_of(package).DESCRIPTOR.message_types_by_name[message]
    read = message_factory.GetMessageClass(descriptor).FromString(builtins.bytes.fromhex(bytes))
    return list(unknown_in(read, message))


def unknown_in(message, path: str):
    for field in UnknownFieldSet(message):
        yield f'{path}: {field.field_number}'
    for field, value in message.ListFields():
        if value_kind(field).message_type is None:
            continue
        if value_kind(field) is not field:
            values = value.values()
        else:
            values = value if field.is_repeated else [value]
        for inner in values:
            yield from unknown_in(inner, f'{path}.{field.name}')


# The corpus.


def corpus() -> list[dict]:
    messages = []
    for descriptor in a2a_pb2.DESCRIPTOR.message_types_by_name.values():
        messages.append(message_factory.GetMessageClass(descriptor)())
        messages.extend(with_one(descriptor, field) for field in descriptor.fields)
        messages.extend(variants(descriptor))
    return [forms(message) for message in messages]


def with_one(descriptor, field):
    message = message_factory.GetMessageClass(descriptor)()
    fill(message, field, 0)
    return message


@functools.cache
def variants(descriptor) -> list:
    """The message with everything in it: once, or once for each member of its own oneof. What lies inside
    takes each of its variants in turn as well."""
    choices = [[]]
    for oneof in descriptor.oneofs:
        if len(oneof.fields) > 1:
            choices = [[*chosen, field] for chosen in choices for field in oneof.fields]
    return [message for chosen in choices for message in filled(descriptor, chosen)]


def filled(descriptor, chosen):
    def taken(field) -> bool:
        oneof = field.containing_oneof
        return oneof is None or len(oneof.fields) == 1 or field in chosen

    fields = [field for field in descriptor.fields if taken(field)]
    for turn in range(max([count_variants(field) for field in fields], default=1)):
        message = message_factory.GetMessageClass(descriptor)()
        for field in fields:
            fill(message, field, turn)
        yield message


def count_variants(field) -> int:
    kind = value_kind(field)
    if kind.message_type is None or not kind.message_type.full_name.startswith(PACKAGE):
        return 1
    return len(variants(kind.message_type))


def value_kind(field):
    """The field itself, or the value of the map that it is."""
    if field.message_type and field.message_type.GetOptions().map_entry:
        return field.message_type.fields_by_name['value']
    return field


def fill(message, field, turn: int) -> None:
    kind = value_kind(field)
    values = [sample(kind, turn), sample(kind, turn + 1)]
    if kind is not field:
        into = getattr(message, field.name)
        for key, value in zip(('first', 'zweiter "ß"'), values):
            if kind.message_type:
                into[key].CopyFrom(value)
            else:
                into[key] = value
    elif field.is_repeated:
        getattr(message, field.name).extend(values)
    elif field.message_type:
        getattr(message, field.name).CopyFrom(values[0])
    else:
        setattr(message, field.name, values[0])


def sample(field, turn: int):
    if field.message_type:
        if field.message_type.full_name.startswith(PACKAGE):
            found = variants(field.message_type)
            return found[turn % len(found)]
        message = message_factory.GetMessageClass(field.message_type)()
        json_format.Parse(json.dumps(WELL_KNOWN[field.message_type.name]), message)
        return message
    if field.enum_type:
        values = field.enum_type.values
        return values[1 + turn % (len(values) - 1)].number
    return SCALARS[KINDS[field.type]](field, turn)


SCALARS = {
    'string': lambda field, turn: f'{field.name} {turn} “ü” \\ \n \u0001',
    'bytes': lambda field, turn: bytes([0, 255, 254, turn]) + field.name.encode(),
    'bool': lambda field, turn: True,
    'int32': lambda field, turn: -turn - 1,
    'int64': lambda field, turn: 2**60 + turn,
}

WELL_KNOWN = {
    'Timestamp': '2026-02-28T23:59:59.120Z',
    'Struct': {'deep': {'list': [None, True, -1.5, 'é', [], {}]}, '': 2**53},
    'Value': [{'nothing': None, 'number': 1e300}, [0, [False]], ''],
}


# Signatures.


def sign(card: str, key: str, alg: str, kid: str) -> str:
    header = {'alg': alg, 'kid': kid, 'typ': 'JOSE', 'jku': None}
    signer = signing.create_agent_card_signer(key, header)
    return json_format.MessageToJson(signer(from_text('AgentCard', card)))


def verify(card: str, key: str, alg: str) -> bool:
    verifier = signing.create_signature_verifier(lambda kid, jku: key, [alg])
    verifier(from_text('AgentCard', card))
    return True


ACTIONS = {
    'describe': describe,
    'describe_set': describe_set,
    'required': required,
    'corpus': corpus,
    'json': lambda message, text: forms(from_text(message, text)),
    'protobuf': lambda message, bytes: forms(from_bytes(message, bytes)),
    'same': same,
    'schema': schema,
    'unknown': unknown,
    'sign': sign,
    'verify': verify,
}


if __name__ == '__main__':
    main()
