#!/usr/bin/env python3
"""Side-by-side driver: starts every target that is present, checks that each answers the same, loads them
interleaved with wrk, and writes results.md / results.json. Loopback only. See benches/README.md."""
import argparse, json, os, random, re, signal, statistics, subprocess, sys, time, tomllib, urllib.request, urllib.error
from pathlib import Path

from free_port import free_port

HERE = Path(__file__).resolve().parent
WORK = Path(os.environ.get("BENCH_WORK", "svc-bench"))
PGPORT = int(os.environ["BENCH_PGPORT"])
PGDATA = Path(os.environ.get("BENCH_PGDATA", WORK / "pg"))
TICK = os.sysconf("SC_CLK_TCK")
WORKLOADS = {
    "Q1": "user by id, 8 fields", "Q2": "20 users by name, 8 fields", "Q3": "100 users by name, 8 fields",
    "Q4": "20 posts by date + author + first 5 comments + their author", "Q5": "posts: title contains, date range, order, limit 20 offset 40",
    "Q6": "count of posts since a date", "Q7": "mutation: create a comment", "Q8": "100 users, 2 of 8 fields",
    "Q9": "10 posts by date + their tags, many to many", "Q10": "10 posts by date + first 5 of their comments, and how many there are",
    "Q11": "10 posts of three days with most comments + how many, and the latest",
}
# What `--latency` compares, with how many connections, and what it allows.
LATENCY = {"reference": "ceiling-sqlx", "targets": ["svc-columns", "svc-data", "svc-tv"], "judged": ["svc-columns", "svc-tv"],
           "c": 64, "times": 1.1, "start_ms": 150, "rss": 40}
WORDS = ["amber", "basalt", "cobalt", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "jasper", "kelp", "lagoon", "maple", "nectar", "onyx"]


def psql(sql, db="bench"):
    return subprocess.run(["psql", "-qXAt", "-h", "127.0.0.1", "-p", str(PGPORT), "-U", "postgres", "-d", db, "-v", "ON_ERROR_STOP=1", "-c", sql],
                          check=True, capture_output=True, text=True).stdout.strip()


# ---- processes ------------------------------------------------------------------------------

def stat(pid):
    try:
        s = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    f = s[s.rindex(")") + 2:].split()
    return int(f[1]), sum(map(int, f[11:13])), sum(map(int, f[13:15]))  # ppid, own ticks, reaped children's ticks


def tree(root):
    """root and all its descendants"""
    parent = {}
    for p in os.listdir("/proc"):
        if p.isdigit() and (s := stat(p)):
            parent[int(p)] = s[0]
    out, todo = {root}, [root]
    while todo:
        r = todo.pop()
        for p, pp in parent.items():
            if pp == r and p not in out:
                out.add(p)
                todo.append(p)
    return out


def cpu(root):
    """CPU seconds of a process tree, processes that ended included (as far as they were reaped)"""
    return sum(s[1] + s[2] for p in tree(root) if (s := stat(p))) / TICK


def rss(root, key):
    total = 0
    for p in tree(root):
        try:
            m = re.search(rf"{key}:\s+(\d+)", Path(f"/proc/{p}/status").read_text())
            total += int(m[1]) if m else 0
        except (FileNotFoundError, ProcessLookupError):
            pass
    return total / 1024


class Target:
    def __init__(self, name, cfg):
        self.name, self.cfg, self.port = name, cfg, cfg.get("port")
        q = Path(os.path.expandvars(cfg["queries"]))
        self.queries = json.loads((q if q.suffix == ".json" else HERE / "queries" / f"{q}.json").read_text())
        self.path = cfg.get("path", "/graphql")
        self.proc = None
        self.start_ms = None

    def has(self, w):
        return w in self.queries and w in self.cfg.get("only", list(WORKLOADS)) and w not in self.cfg.get("skip", [])

    def request(self, w, params):
        q = self.queries[w]
        return self.render(q, params)

    def render(self, q, params):
        path = q.get("path", self.path)
        if "{" in path:
            path = path.format(**params)
        if "raw" in q:
            return path, q["raw"]
        def fill(v):
            if isinstance(v, str) and v.startswith("$"):
                return params[v[1:]]
            if isinstance(v, dict):
                return {k: fill(x) for k, x in v.items()}
            return [fill(x) for x in v] if isinstance(v, list) else v
        body = {"query": q["query"]}
        if "variables" in q:
            body["variables"] = fill(q["variables"])
        return path, json.dumps(body)

    def send(self, path, body, timeout=20):
        r = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body.encode(),
                                   headers={"Content-Type": "application/json", "Accept": "application/json"})
        try:
            with urllib.request.urlopen(r, timeout=timeout) as a:
                return a.status, a.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode(errors="replace")

    def start(self, params):
        self.port = self.cfg.get("port") or free_port()
        (WORK / "log").mkdir(parents=True, exist_ok=True)
        log = open(WORK / "log" / f"{self.name}.log", "wb")
        env = {**os.environ, "DATABASE_URL": f"postgres://postgres@127.0.0.1:{PGPORT}/bench", **self.cfg.get("env", {})}
        began = time.monotonic()
        self.proc = subprocess.Popen([os.path.expandvars(a.replace("{port}", str(self.port))) for a in self.cfg["cmd"]],
                                     cwd=HERE, env=env, stdout=log, stderr=log, start_new_session=True)
        first = "Q1" if self.has("Q1") else next(w for w in WORKLOADS if self.has(w))
        path, body = self.request(first, params[first][0])
        while time.monotonic() - began < 60:
            if self.proc.poll() is not None:
                raise RuntimeError(f"ended with {self.proc.returncode}, see {log.name}")
            try:
                code, text = self.send(path, body)
                if code == 200 and '"errors"' not in text:
                    self.start_ms = (time.monotonic() - began) * 1000
                    return
            except OSError:
                pass
            time.sleep(0.004)
        raise RuntimeError("no successful answer within 60 s")

    def stop(self):
        if self.proc and self.proc.poll() is None:
            os.killpg(self.proc.pid, signal.SIGTERM)
            try:
                self.proc.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(self.proc.pid, signal.SIGKILL)
                self.proc.wait(5)


# ---- workloads --------------------------------------------------------------------------------

def make_params(n=2000):
    rnd = random.Random(20240131)
    users = psql("SELECT id FROM tb_user ORDER BY pk_user").split()
    posts = psql("SELECT id FROM tb_post ORDER BY pk_post").split()
    day = lambda d: time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime(1704067200 + d * 86400))
    out = {w: [] for w in WORKLOADS}
    for i in range(n):
        out["Q1"].append({"id": rnd.choice(users)})
        out["Q2"].append({"limit": 20, "offset": rnd.randrange(100)})
        out["Q3"].append({"limit": 100, "offset": rnd.randrange(100)})
        out["Q4"].append({"limit": 20, "offset": rnd.randrange(40)})
        d = rnd.randrange(200)
        out["Q5"].append({"q": rnd.choice(WORDS), "from": day(d), "to": day(d + 120)})
        out["Q6"].append({"from": day(320 + rnd.randrange(20))})
        out["Q7"].append({"postId": rnd.choice(posts), "authorId": rnd.choice(users), "body": f"bench-comment-{i}-" + "x" * 60})
        out["Q8"].append({"limit": 100, "offset": rnd.randrange(100)})
        out["Q9"].append({"limit": 10, "offset": rnd.randrange(50)})
        out["Q10"].append({"limit": 10, "offset": rnd.randrange(50)})
        d = rnd.randrange(330)
        out["Q11"].append({"from": day(d), "to": day(d + 3)})
    return out


def write_requests(t, ws, params):
    """a file for each workload of the target, for load.lua: one request a line"""
    for w in ws:
        if t.has(w):
            (WORK / "requests" / f"{t.name}.{w}").write_text("".join(f"{p}\t{b}\n" for p, b in (t.request(w, x) for x in params[w])))


def simple(v):
    """one shape for all targets: object keys sorted, times normalized"""
    if isinstance(v, dict):
        return {k: simple(x) for k, x in sorted(v.items()) if k != "__typename"}
    if isinstance(v, list):
        return [simple(x) for x in v]
    if isinstance(v, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.0+)?(Z|\+00:00)", v):
        return v[:19] + "Z"
    return v


def answer_of(t, w, params):
    code, text = t.send(*t.request(w, params))
    try:
        doc = json.loads(text)
        if doc.get("errors"):
            return None, f"HTTP {code} {text[:300]}", text
        v = doc["data"]
        for part in t.queries[w]["extract"].split("."):
            v = v[part]
        v = simple(v)
        if w == "Q7":
            v.pop("id", None)
        return v, None, text
    except Exception as e:  # noqa: BLE001
        return None, f"HTTP {code} {type(e).__name__} {e}: {text[:300]}", text


def check(targets, params, samples=15):
    """every target answers every workload as the first target that has it does"""
    bad, sizes = {}, {}
    for w in WORKLOADS:
        ref = None
        have = [t for t in targets if t.has(w)]
        for t in have:
            got, size = [], []
            for p in params[w][:samples]:
                v, why, text = answer_of(t, w, p)
                if why:
                    bad[(t.name, w)] = why
                    break
                got.append(v)
                size.append(len(text))
            if (t.name, w) in bad:
                continue
            sizes[(t.name, w)] = round(statistics.mean(size))
            if ref is None:
                ref = (t.name, got)
            elif got != ref[1]:
                i = next(i for i in range(len(got)) if got[i] != ref[1][i])
                bad[(t.name, w)] = f"differs from {ref[0]} on {json.dumps(params[w][i])}: {json.dumps(got[i])[:200]} / {json.dumps(ref[1][i])[:200]}"
        if w == "Q7":
            clean_comments()  # later workloads count comments
    return bad, sizes


def run_wrk(t, w, conc, seconds, seed, pgroot):
    env = {**os.environ, "BENCH_REQUESTS": str(WORK / "requests" / f"{t.name}.{w}"), "BENCH_SEED": str(seed)}
    s0, p0 = cpu(t.proc.pid), cpu(pgroot)
    out = subprocess.run(["wrk", "-t", "1", "-c", str(conc), "-d", f"{seconds}s", "--timeout", "10s", "-s", str(HERE / "load.lua"), f"http://127.0.0.1:{t.port}/"],
                         env=env, capture_output=True, text=True, timeout=seconds + 60)
    s1, p1 = cpu(t.proc.pid), cpu(pgroot)
    m = re.search(r"^JSON (.*)$", out.stdout, re.M)
    if not m:
        raise RuntimeError(out.stdout[-300:] + out.stderr[-300:])
    r = json.loads(m[1])
    n = max(1, r["requests"])
    return {"target": t.name, "workload": w, "c": conc, "requests": r["requests"], "rps": r["requests"] / (r["duration_us"] / 1e6),
            "p50_ms": r["p50_us"] / 1000, "p99_ms": r["p99_us"] / 1000, "srv_ms": (s1 - s0) * 1000 / n, "pg_ms": (p1 - p0) * 1000 / n,
            "bytes": r["bytes"] / n, "bad": r["status"] + r["timeout"] + r["read"] + r["write"] + r["connect"]}


def clean_comments():
    psql("DELETE FROM tb_comment WHERE pk_comment > 200000")
    psql("VACUUM ANALYZE tb_comment")


# ---- report -------------------------------------------------------------------------------------

def pooled(rows, t, w, c):
    rs = [r for r in rows if (r["target"], r["workload"], r["c"]) == (t, w, c)]
    if not rs:
        return None
    n = sum(r["requests"] for r in rs)
    mean = lambda k: statistics.mean(r[k] for r in rs)
    return {"rps": mean("rps"), "p50": mean("p50_ms"), "p99": mean("p99_ms"), "bytes": mean("bytes"), "bad": sum(r["bad"] for r in rs),
            "srv": sum(r["srv_ms"] * r["requests"] for r in rs) / max(1, n), "pg": sum(r["pg_ms"] * r["requests"] for r in rs) / max(1, n)}


def hardware():
    """one line: what the figures were measured on"""
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    rustc = subprocess.run(["rustc", "-V"], capture_output=True, text=True).stdout.split()
    return (f"{os.cpu_count()} cores ({model[1].strip() if model else os.uname().machine}), Linux {os.uname().release}, "
            f"PostgreSQL {psql('SHOW server_version').split()[0]}, rustc {rustc[1] if len(rustc) > 1 else '?'}")


def main_concurrency(cs):
    """the one that is measured in several rounds"""
    return 16 if 16 in cs else min(cs)


def setting(res, c):
    return (f"{res['when']}; {res['hardware']}; {res['rounds']} interleaved round(s) of {res['seconds']} s, {c} connections. "
            f"Load average before and after: {res['load'][0]:.2f}, {res['load'][1]:.2f}.")


def latency(res):
    """the block of benches/results.md, and what is out of bounds"""
    c, ref = LATENCY["c"], LATENCY["reference"]
    ws = [w for w in WORKLOADS if any(r["workload"] == w for r in res["rows"])]
    p99 = {}
    for r in res["rows"]:
        p99.setdefault((r["target"], r["workload"]), []).append(r["p99_ms"])
    L = [setting(res, c), "", f"p99, ms: median of the rounds (median of its ratios to {ref} in the same round)", "",
         "| target | " + " | ".join(ws) + " |", "|---|" + "---:|" * len(ws)]
    over = [f"{k}: {v}" for k, v in {**res["absent"], **res["bad"]}.items()]
    over += [f"{r['target']} {r['workload']}: {r['bad']} bad answers" for r in res["rows"] if r["bad"]]
    for t in res["targets"]:
        cells = []
        for w in ws:
            if (t, w) not in p99:
                cells.append("–")
                continue
            cell = f"{statistics.median(p99[t, w]):.1f}"
            if t != ref and (ref, w) in p99:
                times = statistics.median(a / b for a, b in zip(p99[t, w], p99[ref, w]))
                cell += f" ({times:.2f})"
                if t in LATENCY["judged"] and times > LATENCY["times"]:
                    over.append(f"{t} {w}: the p99 is {times:.2f} times that of {ref} (at most {LATENCY['times']})")
            cells.append(cell)
        L.append(f"| {t} | " + " | ".join(cells) + " |")
    L += ["", "| target | start to first good answer, ms | resident after start, MiB | resident after the run, MiB |", "|---|---:|---:|---:|"]
    for t, m in res["memory"].items():
        L.append(f"| {t} | {m['start_ms']:.0f} | {m['rss0']:.0f} | {m['rss1']:.0f} |")
        if t != ref and m["start_ms"] >= LATENCY["start_ms"]:
            over.append(f"{t}: the first good answer came after {m['start_ms']:.0f} ms (under {LATENCY['start_ms']})")
        if t != ref and m["rss1"] >= LATENCY["rss"]:
            over.append(f"{t}: {m['rss1']:.0f} MiB are resident after the run (under {LATENCY['rss']})")
    return "\n".join(["<!-- begin latency -->", *L, "<!-- end latency -->"]), over


def summary(res, section):
    """the block of benches/results.md with that name"""
    rows = res["rows"]
    ws = [w for w in WORKLOADS if any(r["workload"] == w for r in rows)]
    c = main_concurrency({r["c"] for r in rows})
    L = [setting(res, c), ""]
    def table(title, fmt):
        L.extend([title, "", "| target | " + " | ".join(ws) + " |", "|---|" + "---:|" * len(ws)])
        for t in res["targets"]:
            cells = [(p := pooled(rows, t, w, c)) and fmt(p, w) or ("fails" if f"{t} {w}" in res["bad"] else "–") for w in ws]
            L.append(f"| {t} | " + " | ".join(cells) + " |")
        L.append("")
    total = lambda p: p["srv"] + p["pg"]
    table("CPU ms per request: **total** (server + PostgreSQL)",
          lambda p, w: f"**{total(p):.3f}** ({p['srv']:.3f} + {p['pg']:.3f})" + (f" ({p['bad']} bad)" if p["bad"] else ""))
    for ref in ("ceiling-rows", "handwritten-table"):
        if ref in res["targets"]:
            table(f"CPU per request, times {ref}",
                  lambda p, w: f"{total(p) / total(r):.2f}" if (r := pooled(rows, ref, w, c)) else "–")
    table("Requests per second; p99 latency", lambda p, w: f"{p['rps']:,.0f}; {p['p99']:.1f} ms")
    L += ["| target | start to first good answer, ms | resident after start, MiB | peak, MiB |", "|---|---:|---:|---:|"]
    L += [f"| {t} | {m['start_ms']:.0f} | {m['rss0']:.0f} | {m['peak']:.0f} |" for t, m in res["memory"].items()]
    return "\n".join([f"<!-- begin {section} -->", *L, f"<!-- end {section} -->"])


def report(res, out):
    names, rows = res["targets"], res["rows"]
    ws = [w for w in WORKLOADS if any(r["workload"] == w for r in rows)]
    cs = sorted({r["c"] for r in rows})
    main = main_concurrency(cs)
    L = ["# Side-by-side results", "", f"Written by `bench.py` on {res['when']}; {res['hardware']}, shared by load generator, server and PostgreSQL.",
         f"Load average at the start {res['load'][0]:.2f}, at the end {res['load'][1]:.2f}; {res['rounds']} interleaved round(s) of {res['seconds']} s at c={main}.",
         "", "Comparable inside one file only: the machine is shared, so between files compare ratios, not figures.", ""]
    L += ["## Workloads", ""] + [f"- **{w}** {WORKLOADS[w]}" for w in ws] + [""]
    def table(title, fmt, c=main):
        L.extend([f"## {title}", "", "| target | " + " | ".join(ws) + " |", "|---|" + "---:|" * len(ws)])
        for t in names:
            cells = []
            for w in ws:
                p = pooled(rows, t, w, c)
                cells.append(fmt(p) + (f" ({p['bad']} bad)" if p["bad"] else "") if p else ("fails" if f"{t} {w}" in res["bad"] else "–"))
            L.append(f"| {t} | " + " | ".join(cells) + " |")
        L.append("")
    table(f"CPU ms per request, server + PostgreSQL (c={main}) — the headline", lambda p: f"**{p['srv'] + p['pg']:.3f}** ({p['srv']:.3f} + {p['pg']:.3f})")
    for c in cs:
        table(f"Requests per second, p50 / p99 ms (c={c})", lambda p: f"{p['rps']:,.0f}, {p['p50']:.2f} / {p['p99']:.2f}", c)
    L += ["## Start and memory", "", "| target | start to first good answer, ms | RSS after start, MiB | peak RSS, MiB |", "|---|---:|---:|---:|"]
    for t in names:
        m = res["memory"][t]
        L.append(f"| {t} | {m['start_ms']:.0f} | {m['rss0']:.0f} | {m['peak']:.0f} |")
    L += ["", "## Bytes per answer", "", "| target | " + " | ".join(ws) + " |", "|---|" + "---:|" * len(ws)]
    for t in names:
        L.append(f"| {t} | " + " | ".join(str(res["sizes"].get(f"{t} {w}", "–")) for w in ws) + " |")
    if res["bad"] or res["absent"]:
        L += ["", "## Not run", ""]
        L += [f"- {k}: {v}" for k, v in res["absent"].items()] + [f"- {k}: `{v[:300]}`" for k, v in res["bad"].items()]
    L += ["", "## Error answers", ""]
    for kind, per in res["errors"].items():
        L += [f"**{kind}**", ""] + [f"- {t}: {v}" for t, v in per.items()] + [""]
    out.write_text("\n".join(L) + "\n")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--targets", help="comma-separated names (default: all present)")
    ap.add_argument("--workloads", default=",".join(WORKLOADS))
    ap.add_argument("--seconds", type=int, default=6, help="one wrk run at c=16, or else the lowest concurrency")
    ap.add_argument("--side-seconds", type=int, default=4, help="one wrk run at the other concurrencies")
    ap.add_argument("--rounds", type=int, default=None, help="of the former; 2, or 3 with --latency")
    ap.add_argument("--concurrency", default="16,1,64")
    ap.add_argument("--latency", action="store_true", help=f"only the p99 at {LATENCY['c']} connections beside {LATENCY['reference']}, start and memory; ends with 1 when they are out of bounds")
    ap.add_argument("--config", default=str(HERE / "targets.toml"))
    ap.add_argument("--extra-targets", action="append", default=[], metavar="FILE", help="more targets, as targets.toml")
    ap.add_argument("--out", default=str(WORK / "results"), help="where results.md and results.json go, without the ending")
    ap.add_argument("--section", default="side-by-side", help="name of the tables in benches/results.md")
    ap.add_argument("--check-only", action="store_true")
    ap.add_argument("--requests-only", action="store_true", help="only write the requests of the targets, without starting them")
    a = ap.parse_args()
    a.rounds = a.rounds or (3 if a.latency else 2)
    if a.latency:
        a.targets, a.concurrency = a.targets or ",".join([LATENCY["reference"], *LATENCY["targets"]]), str(LATENCY["c"])
    cfg = tomllib.loads(Path(a.config).read_text())
    for extra in a.extra_targets:
        cfg |= tomllib.loads(Path(extra).read_text())
    pick = a.targets.split(",") if a.targets else list(cfg)
    ws = a.workloads.split(",")
    clean_comments()
    params = make_params()
    pgroot = int((PGDATA / "postmaster.pid").read_text().split()[0])
    (WORK / "requests").mkdir(parents=True, exist_ok=True)
    if a.requests_only:
        for t in (Target(name, cfg[name]) for name in pick):
            if missing := [w for w in ws if not t.has(w)]:
                sys.exit(f"{t.name} does not have {', '.join(missing)}")
            write_requests(t, ws, params)
        return
    absent, targets, memory = {}, [], {}
    load0 = os.getloadavg()[0]
    try:
        for name in pick:
            if not Path(os.path.expandvars(cfg[name].get("needs", "/"))).exists():
                absent[name] = f"not installed ({cfg[name]['needs']} is missing)"
                continue
            t = Target(name, cfg[name])
            try:
                t.start(params)
            except Exception as e:  # noqa: BLE001
                absent[name] = f"did not start: {e}"
                print(name, absent[name], file=sys.stderr, flush=True)
                t.stop()
                continue
            targets.append(t)
            memory[name] = {"start_ms": t.start_ms, "rss0": rss(t.proc.pid, "VmRSS"), "peak": 0}
            print(f"{name}: up in {t.start_ms:.0f} ms", file=sys.stderr, flush=True)
        bad, sizes = check(targets, params)
        for (n, w), why in bad.items():
            print(f"CHECK {n} {w}: {why}", file=sys.stderr, flush=True)
        errors = {}
        for t in targets:
            for kind, q in t.queries.get("errors", {}).items():
                try:
                    code, text = t.send(*t.render(q, params["Q7"][0]))
                except OSError as e:
                    code, text = 0, f"no answer: {e}"
                errors.setdefault(kind, {})[t.name] = f"HTTP {code} `{text[:400]}`".replace("\n", " ")
        if a.check_only:
            print(json.dumps(errors, indent=1))
            return
        for t in targets:
            write_requests(t, ws, params)
        rows = []
        for w in ws:
            cs = [int(c) for c in a.concurrency.split(",")]
            for c in cs:
                main = c == main_concurrency(cs)
                live = [t for t in targets if t.has(w) and (t.name, w) not in bad]
                for r in range(a.rounds if main else 1):
                    order = live[r % max(1, len(live)):] + live[:r % max(1, len(live))]
                    for t in order if r % 2 == 0 else order[::-1]:
                        if main and r == 0:
                            run_wrk(t, w, c, 1, 99, pgroot)  # warm-up
                        x = run_wrk(t, w, c, a.seconds if main else a.side_seconds, 7 + r, pgroot)
                        rows.append(x)
                        print(f"{w} c={c:<3} {t.name:<18} {x['rps']:>9.0f} r/s  p50 {x['p50_ms']:.2f}  p99 {x['p99_ms']:.2f}  cpu {x['srv_ms']:.3f}+{x['pg_ms']:.3f} ms  bad {x['bad']}  load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
                        memory[t.name]["peak"] = max(memory[t.name]["peak"], rss(t.proc.pid, "VmHWM"))
                        if w == "Q7":
                            clean_comments()
        for t in targets:
            memory[t.name]["rss1"] = rss(t.proc.pid, "VmRSS")
    finally:
        for t in targets:
            t.stop()
    res = {"when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "hardware": hardware(), "load": [load0, os.getloadavg()[0]],
           "rounds": a.rounds, "seconds": a.seconds, "targets": [t.name for t in targets], "rows": rows, "memory": memory, "absent": absent,
           "bad": {f"{n} {w}": v for (n, w), v in bad.items()}, "sizes": {f"{n} {w}": v for (n, w), v in sizes.items()}, "errors": errors}
    Path(a.out + ".json").write_text(json.dumps(res))
    report(res, Path(a.out + ".md"))
    if not a.latency:
        print(summary(res, a.section))
        return
    table, over = latency(res)
    print(table)
    if over:
        sys.exit("out of bounds:\n  " + "\n  ".join(over))


if __name__ == "__main__":
    main()
