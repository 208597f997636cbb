"""The viewer over a store in PostgreSQL: the same pages and labels, and no password on any of them."""

import pytest

from assay.view.server import ViewOptions

pytestmark = pytest.mark.deep


def test_a_store_in_postgresql_is_viewed_and_labelled(support, viewer_of, postgres):
    url = f"{postgres}{'&' if '?' in postgres else '?'}project=viewed"
    for name in ("v1", "v2"):
        outcome = support.assay("run", f"{name}.yaml", "--name", name, "--store", url)
        assert outcome.code == 0, outcome.err
    view = viewer_of(support, annotator="maria")
    view.options = ViewOptions(**{**vars_of(view.options), "store": url})
    start = "/runs/v2/label?target=contains/is_correct&n=30"
    paths = ["/", "/runs/v2", "/runs/v2/samples?show=wrong", "/runs/v2/samples?q=number", "/runs/v2/samples/3", start]
    for reply in view.ask(*paths, "/compare?runs=v1&runs=v2", "/grid?runs=v1&runs=v2"):
        assert reply.status == 200, reply.text
        assert url not in reply.text
    page = view.ask(start)
    data = {"label": "right"}
    for part in page.text.split('<input type="hidden" name="')[1:]:
        name, _, rest = part.partition('" value="')
        data[name] = rest.partition('"')[0]
    headers = {"Sec-Fetch-Site": "same-origin"}
    assert view.ask("/runs/v2/label", method="POST", data=data, headers=headers).status == 303
    assert "1 of 30 labelled" in view.ask(start).text
    outcome = support.assay("export", "v2", "--labels", "--to", "people.csv", "--store", url)
    assert outcome.out == "wrote 1 label to people.csv\n", outcome.err


def vars_of(options):
    return {name: getattr(options, name) for name in ViewOptions.__slots__}
