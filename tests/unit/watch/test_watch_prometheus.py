"""Metrics, read by the parser that Prometheus' own client has."""

from __future__ import annotations

import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from watch_stream import MONTHS, SHIFTED, month, watched

from whygap._watch.prometheus import Board, Family, Sample, families_of, push, text_of
from whygap.errors import InputError

client = pytest.importorskip("prometheus_client")
parser = pytest.importorskip("prometheus_client.parser")

ODD = 'site "B"\\north\nward {1}, ü'
RULE = {"name": 'the "outcome" slipped', "part": "outcome", "below": "-2 points"}


def parsed(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    samples = [s for family in parser.text_string_to_metric_families(text) for s in family.samples]
    return {(s.name, frozenset(s.labels.items())): s.value for s in samples}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    targets = {ODD: month(MONTHS[0]), SHIFTED: month(SHIFTED)}
    folder = tmp_path_factory.mktemp("metrics")
    return watched(folder, targets, detail="points", rules={"rule": [RULE]})


def test_the_real_parser_reads_every_number_back(found):
    text = (found.folder / "metrics.prom").read_text(encoding="utf-8")
    numbers = parsed(text)
    labels = {"target": ODD, "metric": "accuracy"}
    assert numbers["whygap_gap", frozenset(labels.items())] == found[ODD].total.value
    for part, estimate in found[ODD].parts.items():
        key = frozenset({**labels, "part": part}.items())
        low, high = estimate.interval(0.95)
        assert numbers["whygap_part", key] == estimate.value
        assert numbers["whygap_part_low", key] == low
        assert numbers["whygap_part_high", key] == high
    key = frozenset({**labels, "part": "covariate", "variable": "a"}.items())
    assert numbers["whygap_points", key] == found[ODD].points["covariate"]["a"].value


def test_every_family_has_help_and_type(found):
    text = (found.folder / "metrics.prom").read_text(encoding="utf-8")
    families = list(parser.text_string_to_metric_families(text))
    assert {family.type for family in families} == {"gauge"}
    assert all(family.documentation.endswith(".") for family in families)
    assert {"whygap_gap", "whygap_part", "whygap_points", "whygap_alarm"} <= {
        family.name for family in families
    }


def test_the_words_of_points_and_levels_say_what_the_numbers_are(found):
    words = {one.name: one.words for one in families_of(found.gaps, (), (), 0.999)}
    assert words["whygap_points"] == "What a variable adds to the metric, in its units"
    assert words["whygap_gap_low"].endswith(", low end at 99.9%")


def test_alarms_are_on_the_board(found):
    numbers = parsed(text_of(found.board().families))
    [(_, labels)] = [key for key in numbers if key[0] == "whygap_alarm"]
    assert {("rule", 'the "outcome" slipped'), ("target", SHIFTED)} <= labels


def test_numbers_that_are_none_survive():
    values = {"nan": math.nan, "inf": math.inf, "low": -math.inf, "tiny": 5e-324, "x": 0.1 + 0.2}
    samples = tuple(Sample({"which": name}, value) for name, value in values.items())
    numbers = parsed(text_of([Family("odd", "back\\slash and\nnewline", samples)]))
    for name, value in values.items():
        back = numbers["odd", frozenset([("which", name)])]
        assert back == value or (math.isnan(back) and math.isnan(value))


def test_the_client_writes_the_same_numbers_to_a_text_file(found, tmp_path):
    registry = client.CollectorRegistry()
    registry.register(found.board())
    client.write_to_textfile(str(tmp_path / "theirs.prom"), registry)
    theirs = parsed((tmp_path / "theirs.prom").read_text(encoding="utf-8"))
    assert theirs == parsed((found.folder / "metrics.prom").read_text(encoding="utf-8"))


@pytest.fixture
def gateway():
    """A push gateway on this machine: remembers what it was sent."""
    seen: list[tuple[str, str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self):  # the name is http.server's
            body = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
            seen.append((self.command, self.path, body))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    server.server_close()


def test_a_gateway_gets_all_of_it(found, gateway):
    address, seen = gateway
    watched(
        found.folder,
        {SHIFTED: month(SHIFTED)},
        detail="points",
        rules={"rule": [RULE]},
        push=address,
    )
    [(method, path, body)] = seen
    assert (method, path) == ("PUT", "/metrics/job/whygap_watch")
    assert parsed(body) == parsed((found.folder / "metrics.prom").read_text(encoding="utf-8"))


def test_a_gateway_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"could not be pushed to 'http://127.0.0.1:9'"):
        push([Family("a", "b", ())], "http://127.0.0.1:9")


def test_a_board_without_numbers_is_still_one():
    [family] = Board((Family("a", "b", ()),)).collect()
    assert (family.name, family.samples) == ("a", [])
