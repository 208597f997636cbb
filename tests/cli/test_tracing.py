"""Spans of runs and calls, as a collector receives them over HTTP."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@pytest.fixture
def collector(monkeypatch):
    """A collector on loopback that keeps what it gets."""
    requests = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            requests.append((self.path, ExportTraceServiceRequest.FromString(body)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield requests
    server.shutdown()
    thread.join()
    server.server_close()


def spans_of(collector):
    return [span for _, sent in collector for r in sent.resource_spans for s in r.scope_spans for span in s.spans]


def attributes(entry):
    values = {a.key: a.value for a in entry.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values.items()}


def test_a_run_is_a_span_above_those_of_its_calls(cli, live, loopback, collector):
    live(5)
    loopback.configure(fail_first=2, fail_status=500)
    said = cli("run", "task.yaml", "--model", "stub", "--json")
    assert said.code == 0, said.err
    assert {path for path, _ in collector} == {"/v1/traces"}
    [run, *others] = [span for span in spans_of(collector) if not span.parent_span_id]
    assert others == []
    assert attributes(run)["assay.run"] == said.json["run"]
    assert attributes(run)["assay.status"] == "completed"
    calls = [span for span in spans_of(collector) if span.parent_span_id]
    assert len(calls) == loopback.stats()["served"] == 7
    for call in calls:
        assert (call.parent_span_id, call.trace_id) == (run.span_id, run.trace_id)
        assert run.start_time_unix_nano <= call.start_time_unix_nano < call.end_time_unix_nano
        assert call.end_time_unix_nano <= run.end_time_unix_nano
        assert call.name == "chat stub"
        assert attributes(call)["gen_ai.operation.name"] == "chat"
        assert attributes(call)["gen_ai.provider.name"] == "custom"
        assert attributes(call)["gen_ai.request.model"] == "stub"
    failed = [call for call in calls if call.status.code == call.status.STATUS_CODE_ERROR]
    assert [attributes(call)["http.response.status_code"] for call in failed] == [500, 500]
    assert [attributes(call)["error.type"] for call in failed] == ["http", "http"]
    tokens = sum(attributes(call).get("gen_ai.usage.output_tokens", 0) for call in calls)
    assert tokens == sum(entry["completion_tokens"] for entry in said.json["spending"])


def test_the_service_is_called_assay_unless_the_environment_names_it(cli, live, collector, monkeypatch):
    live(1)
    cli("run", "task.yaml", "--model", "stub")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
    cli("run", "task.yaml", "--model", "stub", "--fresh")
    names = [attributes(r.resource)["service.name"] for _, sent in collector for r in sent.resource_spans]
    assert names == ["assay", "nightly"]


def test_no_span_holds_a_key(cli, live, loopback, project, collector):
    live(1)
    project.write("data.jsonl", [{"sample_id": "id-sk-loopback", "question": "Question 0?", "answer": "A"}])
    assert cli("run", "task.yaml", "--model", "stub").code == 0
    assert "id-[hidden]" in [attributes(span).get("assay.sample") for span in spans_of(collector)]
    assert all("sk-loopback" not in str(sent) for _, sent in collector)


def test_without_an_address_nothing_is_imported(project):
    code = (
        "import sys; from assay.cli.run import command; import assay.models.tracing;"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_extra_the_command_says_what_to_install(cli, live, loopback, monkeypatch):
    live(1)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    said = cli("run", "task.yaml", "--model", "stub")
    assert said.code == 2
    assert "pip install 'assay[otel]'" in said.err
    assert loopback.stats()["served"] == 0


def test_a_collector_that_does_not_answer_changes_no_result(cli, live, monkeypatch):
    live(2)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    said = cli("run", "task.yaml", "--model", "stub", "--json")
    assert said.code == 0
    assert said.err.count("spans are missing, the results are not affected: ") == 1
    assert len(said.err.splitlines()) == 1
    assert said.json["n_samples"] == 2
