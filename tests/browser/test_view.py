"""The viewer in a browser: ways through it, keys, addresses, work without scripts, accessibility, pictures."""

import os
import re
from pathlib import Path

import pytest

PAGES = [
    "/",
    "/runs/v2",
    "/runs/v2/samples?show=wrong",
    "/runs/v2/samples/1",
    "/compare?runs=v1&runs=v2",
    "/grid?runs=v1&runs=v2",
    "/costs",
    "/runs/tone/panel",
    "/runs/tone/samples/1",
    "/labels",
    "/runs/v2/label?target=contains/is_correct&n=30",
    "/nothing",
]


def ready(page, text):
    """Wait for a page that says something, and for its script, which shows the button for keys."""
    page.wait_for_selector(f"text={text}")
    page.wait_for_selector("[data-keys]:visible")


def ids_shown(page):
    return page.locator("[data-item] [data-open]").all_inner_texts()


def test_three_clicks_lead_from_the_runs_to_the_sample_that_explains_a_flip(viewer, open_page):
    watched = open_page(viewer.base)
    page = watched.open("/")
    page.get_by_role("link", name="against v1").click()
    page.wait_for_selector(".flip")
    assert "v2 is better than v1 by" in page.inner_text("main")
    assert page.locator(".flip .tag.bad").first.inner_text() == "right → wrong"
    # what differs is marked on both sides
    assert page.locator(".flip del").count() > 0
    assert page.locator(".flip ins").count() > 0
    sample_id = page.locator(".flip [data-open]").first.inner_text()
    page.locator(".flip [data-open]").first.click()
    assert page.locator("h1").inner_text().startswith(sample_id)
    assert not watched.trouble


def test_keys_walk_a_list_and_the_samples_of_a_filter(viewer, open_page):
    watched = open_page(viewer.base)
    page = watched.open("/runs/v2/samples?show=wrong")
    ready(page, "to walk")
    ids = ids_shown(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator("tr.current [data-open]").inner_text() == ids[0]
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('T-')")
    walked = [page.locator("h1").inner_text().split()[0]]
    for _ in range(3):
        page.wait_for_selector("[data-keys]:visible")
        page.keyboard.press("j")
        page.wait_for_function("id => !document.querySelector('h1').innerText.startsWith(id)", arg=walked[-1])
        walked.append(page.locator("h1").inner_text().split()[0])
    assert walked == ids[:4]
    page.wait_for_selector("[data-keys]:visible")
    page.keyboard.press("k")
    page.wait_for_function("id => document.querySelector('h1').innerText.startsWith(id)", arg=ids[2])
    page.wait_for_selector("[data-keys]:visible")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.wait_for_selector("tr[data-item]")
    assert page.url.endswith("?show=wrong")
    assert not watched.trouble


def test_a_filter_is_in_the_address(viewer, open_page):
    page = open_page(viewer.base).open("/runs/v2/samples")
    page.get_by_label("Search").fill("headset")
    page.locator('select[name="in:sample/topic"]').select_option("returns")
    page.get_by_label("Show").select_option("wrong")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**show=wrong**")
    ids, address = ids_shown(page), page.url
    assert ids
    page.reload()
    assert ids_shown(page) == ids
    other = open_page("").open(address)
    assert ids_shown(other) == ids
    assert other.get_by_label("Search").input_value() == "headset"
    assert other.locator('select[name="in:sample/topic"]').input_value() == "returns"


def test_everything_but_keys_works_without_scripts(viewer, open_page):
    page = open_page(viewer.base, java_script_enabled=False).open("/")
    for name in ("v1", "v2"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    page.get_by_role("button", name="Compare marked runs").click()
    assert page.locator("h1").inner_text() == "v2 against v1"
    page.locator(".flip [data-open]").first.click()
    page.get_by_role("link", name="Samples", exact=True).click()
    page.get_by_label("Show").select_option("wrong")
    page.get_by_role("button", name="Apply").click()
    first = ids_shown(page)
    page.get_by_role("link", name="Next page").click()
    assert not set(first) & set(ids_shown(page))
    page.locator("[data-open]").first.click()
    page.get_by_role("link", name="Next").click()
    page.goto(f"{viewer.base}/runs/v1/label?target=contains/is_correct&n=30")
    page.get_by_role("button", name="right").click()
    assert "1 of 30 labelled" in page.inner_text("main")


@pytest.mark.slow
def test_thirty_labels_by_keyboard_correct_the_metric(serve, showcase, open_page, tmp_path):
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(showcase.folder, folder)
    project = type(showcase)(folder)
    viewer = serve(project, annotator="maria")
    watched = open_page(viewer.base)
    page = watched.open("/labels")
    page.locator("section", has_text="v2").first.get_by_label("Answers to draw").select_option("30")
    page.locator("section", has_text="v2").first.get_by_role("button", name="Label").click()
    ready(page, "0 of 30 labelled")
    page.keyboard.press("c")
    page.keyboard.type("looks fine")
    page.keyboard.press("Escape")
    for n in range(30):
        page.keyboard.press("s" if n == 7 else "1" if n % 5 == 0 else "2")
        ready(page, f"{n + 1} of 30 labelled")
        if n == 12:
            page.keyboard.press("u")
            ready(page, "12 of 30 labelled")
            page.keyboard.press("2")
            ready(page, "13 of 30 labelled")
    assert "All answers of this queue are labelled" in page.inner_text("h1")
    page.goto(f"{viewer.base}/runs/v2")
    page.wait_for_selector("text=corrected by 29 human labels", timeout=90_000)
    assert project.assay("calibrate", "v2", "--json").json["calibrations"][0]["n_labelled"] == 29
    assert not watched.trouble


@pytest.mark.parametrize(
    "look",
    [
        {"width": 1280, "color_scheme": "light"},
        {"width": 1280, "color_scheme": "dark"},
        {"width": 390, "color_scheme": "light"},
        {"width": 390, "color_scheme": "dark"},
        {"width": 1280, "color_scheme": "light", "forced_colors": "active"},
        {"width": 390, "color_scheme": "light", "forced_colors": "active"},
    ],
    ids=lambda look: "-".join(str(value) for value in look.values()),
)
def test_axe_finds_nothing_serious_and_nothing_sticks_out(viewer, open_page, look):
    from axe_playwright_python.sync_playwright import Axe

    watched = open_page(viewer.base, **look)
    findings = []
    for path in PAGES:
        page = watched.open(path)
        for finding in Axe().run(page).response["violations"]:
            if finding["impact"] in ("serious", "critical"):
                nodes = [node["html"][:150] for node in finding["nodes"][:3]]
                findings.append((path, finding["id"], nodes))
        findings += [(path, "sticks out", element) for element in watched.wide()]
    assert findings == []
    assert [line for line in watched.trouble if "404" not in line] == []


@pytest.mark.parametrize("path", PAGES)
def test_the_keyboard_reaches_every_link_and_button(viewer, open_page, path):
    page = open_page(viewer.base).open(path)
    wanted = page.locator("a:visible, button:visible, summary:visible").count()
    page.evaluate("window.seen = new Set(); addEventListener('focusin', e => seen.add(e.target))")
    for _ in range(wanted + 20):
        page.keyboard.press("Tab")
    reached = page.evaluate("[...seen].filter(e => e.matches('a, button, summary')).length")
    # the skip link is visible only while it has the focus
    assert reached >= wanted


def test_a_page_cannot_load_or_run_anything_of_others(viewer, open_page):
    page = open_page(viewer.base).open("/")
    outcome = page.evaluate(
        """async () => {
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
            const style = document.createElement("style");
            style.textContent = "body { outline: 9px solid red }";
            document.body.append(style);
            const fetched = await fetch("http://127.0.0.1:9/").then(() => true, () => false);
            const image = await new Promise(resolve => {
                const element = new Image();
                element.onload = () => resolve(true);
                element.onerror = () => resolve(false);
                element.src = "http://127.0.0.1:9/x.png";
            });
            return [Boolean(window.ran), getComputedStyle(document.body).outlineWidth === "9px", fetched, image];
        }"""
    )
    assert outcome == [False, False, False, False]


def test_a_form_of_another_site_writes_nothing(viewer, open_page):
    page = open_page("about:blank").open("")
    page.set_content(
        f'<form method="post" action="{viewer.base}/runs/v2/label"><input name="target" value="contains/is_correct">'
        '<input name="position" value="1"><input name="label" value="right"><button>go</button></form>'
    )
    with page.expect_response(re.compile("/label")) as answered:
        page.get_by_role("button").click()
    assert answered.value.status == 403


def test_a_report_is_printed_and_shown_without_a_complaint(showcase, open_page, tmp_path):
    from axe_playwright_python.sync_playwright import Axe

    path = tmp_path / "report.html"
    assert showcase.assay("report", "v1", "v2", "-o", str(path)).code == 0
    for width in (1280, 390):
        watched = open_page(path.as_uri(), width=width)
        page = watched.open("")
        serious = [f["id"] for f in Axe().run(page).response["violations"] if f["impact"] in ("serious", "critical")]
        assert serious == []
        assert watched.wide() == []
        assert watched.trouble == []
    page.emulate_media(media="print")
    assert page.locator(".verdict").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.pdf(format="A4")) > 20_000


def test_screenshots_of_the_documentation(viewer, open_page, tmp_path):
    folder = Path(os.environ.get("ASSAY_SCREENSHOTS") or tmp_path)
    shots = {
        "view-run": "/runs/v2",
        "view-compare": "/compare?runs=v1&runs=v2&show=down",
        "view-runs": "/",
        "view-samples": "/runs/v2/samples?show=wrong&in%3Asample%2Ftopic=returns",
        "view-label": "/runs/v2/label?target=contains/is_correct&n=60",
        "view-panel": "/runs/tone/panel",
    }
    for name, path in shots.items():
        page = open_page(viewer.base, width=1100).open(path)
        page.wait_for_timeout(300)
        page.evaluate("document.querySelector('.path').textContent = '.assay/assay.db'")
        page.set_viewport_size({"width": 1100, "height": 640})
        page.screenshot(path=folder / f"{name}.png")
        assert (folder / f"{name}.png").stat().st_size < 150_000
