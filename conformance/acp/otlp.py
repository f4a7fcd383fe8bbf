"""Reads requests of OTLP, one on each line in hexadecimal digits, and prints their spans, an object of JSON for each.

The messages are those of the official package `opentelemetry-proto`, which the ACP SDK brings along.
"""

import json
import sys

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


def attributes(pairs):
    return {it.key: getattr(it.value, it.value.WhichOneof("value")) for it in pairs}


for line in sys.stdin:
    request = ExportTraceServiceRequest()
    request.ParseFromString(bytes.fromhex(line.strip()))
    # A field that the package does not know would be kept as it is: there may be none.
    again = ExportTraceServiceRequest()
    again.CopyFrom(request)
    again.DiscardUnknownFields()
    if again.SerializeToString() != request.SerializeToString():
        raise SystemExit(f"unknown fields in {request}")
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                if not 0 < span.start_time_unix_nano <= span.end_time_unix_nano:
                    raise SystemExit(f"no time in {span}")
                print(
                    json.dumps(
                        {
                            "trace": span.trace_id.hex(),
                            "span": span.span_id.hex(),
                            "parent": span.parent_span_id.hex(),
                            "name": span.name,
                            "kind": Span.SpanKind.Name(span.kind),
                            "status": span.status.code,
                            "attributes": attributes(span.attributes),
                            "resource": attributes(resource.resource.attributes),
                            "scope": scope.scope.name,
                        }
                    )
                )
