"""Stories: the newest words of each comparison, and every repair beside its forecast."""

from __future__ import annotations

import json

from experiments import refit, stories
from experiments.simulation import Order


def test_a_story_has_its_words_and_says_where_a_forecast_failed(tmp_path):
    power, refits = tmp_path / "power", tmp_path / "refit"
    power.mkdir()
    refits.mkdir()
    name = "insurance, NE to WV"
    told = [{"comparison": name, "text": text, "engine": engine}
            for text, engine in (("Accuracy fell.", 5), ("Old words.", 2))]  # fmt: skip
    (power / "stories.jsonl").write_text("\n".join(map(json.dumps, told)), encoding="utf-8")
    label = refit.case(name).label
    (refits / "refit.csv").write_text(
        "config,seed,first,step,forecast,error,won,error of won\n"
        f"{label},0,PINCP,corrected,0.02,0.002,0.021,0.002\n"
        f"{label},0,PINCP,with the first,0.03,0.002,0.05,0.002\n"
        f"{label},0,PINCP,with all,0.04,0.002,0.041,0.002\n",
        encoding="utf-8",
    )
    page = stories.run(Order(tmp_path, jobs=0)).read_text(encoding="utf-8")
    assert "## Insurance, ne to wv" not in page
    assert "Accuracy fell." in page
    assert "Old words." not in page
    assert "correcting the score with W: 2.1 won, 2.0 forecast (1.6 to 2.4);" in page
    assert "with PINCP beside it: 5.0 won, 3.0 forecast (2.6 to 3.4), **not as forecast**" in page
