"""Projects to view, and the viewer's application called in process, through HTTP."""

import asyncio
import re
from dataclasses import dataclass

import pytest
from aiohttp.test_utils import TestClient, TestServer

from assay.view.server import ViewOptions, application

TASK = """
key: support
display_name: Support bot
definition:
  dataset: {{source: {{type: local, file_path: {name}.jsonl}}}}
  solver: {{type: pass_through_solver, trace_column: output}}
  scorers:
    - type: contains
      substring: "{{{{ sample.answer }}}}"
      metrics: [{{type: mean, field: is_correct, name: Accuracy, group_by: "{{{{ sample.topic }}}}"}}]
"""


@dataclass(frozen=True)
class Reply:
    """What a request got."""

    status: int
    headers: dict
    text: str

    @property
    def links(self):
        return [link.replace("&amp;", "&") for link in re.findall(r'href="([^"]*)"', self.text)]


class Viewer:
    """The viewer over one store, asked one request at a time by a client that follows no redirects by itself."""

    def __init__(self, store, **options):
        self.options = ViewOptions(store=str(store), secret=b"0" * 32, **options)

    def ask(self, *requests, method="GET", headers=None, data=None):
        """The replies to some addresses; one reply where there is one address."""

        async def ask_all():
            replies = []
            async with TestClient(TestServer(application(self.options))) as client:
                for path in requests:
                    while True:
                        reply = await client.request(method, path, headers=headers, data=data, allow_redirects=False)
                        text = await reply.text()
                        # a page that waits for a result on a busy machine asks to be loaded again
                        if "loads again" not in text:
                            break
                        await asyncio.sleep(0.2)
                    replies.append(Reply(reply.status, dict(reply.headers), text))
            return replies

        replies = asyncio.run(ask_all())
        return replies[0] if len(replies) == 1 else replies


def answers(seed, share, n=60):
    """Samples of a support bot; `share` of the answers are right."""
    topics = ["billing", "shipping", "returns"]
    return [
        {
            "sample_id": f"T-{i}",
            "topic": topics[i % 3],
            "question": f"May I return order number {i}?",
            "answer": "yes" if i % 2 else "no",
            "output": f"{'yes' if (i % 2) == ((i * seed) % 100 < share * 100) else 'no'}, within {i} days",
        }
        for i in range(n)
    ]


@pytest.fixture(scope="session")
def support(new_project):
    """A project with two runs of one task, `v1` and `v2`."""
    project = new_project()
    for name, seed, share in (("v1", 37, 0.7), ("v2", 53, 0.85)):
        project.write(f"{name}.jsonl", answers(seed, share))
        project.write(f"{name}.yaml", TASK.format(name=name))
        outcome = project.assay("run", f"{name}.yaml", "--name", name)
        assert outcome.code == 0, outcome.err
    return project


@pytest.fixture(scope="session")
def panel(new_project):
    """A project with one run of a panel of three judges, `panel`."""
    project = new_project()
    assert project.assay("init", ".", "--starter", "rubric").code == 0
    assert project.assay("run", "task.yaml", "--name", "panel").code == 0
    return project


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory, monkeypatch):
    """Indexes of tests lie in a folder of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def viewer_of():
    """Make the viewer over the store of a project."""
    return lambda project, **options: Viewer(project.folder / ".assay" / "assay.db", **options)


@pytest.fixture
def view(viewer_of, support):
    """The viewer over the two runs."""
    return viewer_of(support)


@pytest.fixture(scope="session")
def samples_of_support():
    """The samples of the runs as they were written."""
    return answers
