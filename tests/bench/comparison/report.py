"""The figures as Markdown: a table a case with ratios against embd, and the claims."""

import statistics


def median(rounds, figure):
    return statistics.median(each[figure] for each in rounds)


def ratios(rounds, against, figure):
    """Of each round, so that what slowed the machine down slowed both."""
    return [a[figure] / b[figure] for a, b in zip(rounds, against)]


def table(case, figures, not_run):
    """Markdown of one case; the ratio is of calls a second, each line's to embd's."""
    lines = [
        "| | calls/s | MB/s | median | p99 | server CPU a call | client CPU a call | server peak RSS | x embd |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    embd = figures.get(case.lines[0].name)
    for line in case.lines:
        rounds = figures.get(line.name)
        if rounds is None:
            lines.append(f"| {line.name} | NOT RUN: {not_run.get(line.server, 'not asked for')} |")
            continue
        ratio = statistics.median(ratios(rounds, embd, "calls_per_second")) if embd else float("nan")
        cells = [
            line.name,
            f"{median(rounds, 'calls_per_second'):,.0f}",
            f"{median(rounds, 'megabytes_per_second'):,.0f}",
            microseconds(median(rounds, "median_us")),
            microseconds(median(rounds, "p99_us")),
            microseconds(median(rounds, "server_cpu_us")),
            microseconds(median(rounds, "client_cpu_us")),
            f"{median(rounds, 'server_peak_bytes') / 2**20:,.0f} MiB",
            f"{ratio:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def microseconds(value):
    return f"{value:,.0f} us" if value < 10_000 else f"{value / 1000:,.1f} ms"


def claim_rows(claims, cases, results):
    """Each claim with the ratio's median and range, where both lines were measured."""
    titles = {case.name: case.title for case in cases}
    for claim in claims:
        figures = results.get(claim.case, {})
        if claim.line.name not in figures or claim.against.name not in figures:
            continue
        each = ratios(figures[claim.line.name], figures[claim.against.name], claim.figure)
        middle = statistics.median(each)
        reached = middle <= claim.target if claim.at_most else middle >= claim.target
        yield {
            "case": titles[claim.case],
            "what": claim.what,
            "target": ("at most " if claim.at_most else "at least ") + f"{claim.target:g}",
            "median": middle,
            "least": min(each),
            "most": max(each),
            "reached": reached,
        }


def claims_table(rows):
    lines = ["| case | ratio | target | measured | least .. most | |", "|---|---|---:|---:|---:|---|"]
    for row in rows:
        verdict = "reached" if row["reached"] else "**missed**"
        lines.append(
            f"| {row['case']} | {row['what']} | {row['target']} | {row['median']:.2f} "
            f"| {row['least']:.2f} .. {row['most']:.2f} | {verdict} |"
        )
    return "\n".join(lines)


def document(machine, cases, results, claims, not_run):
    parts = [machine]
    for case in cases:
        if results.get(case.name):
            parts += [f"### {case.title}", table(case, results[case.name], not_run)]
    if claims:
        parts += ["### Ratios", claims_table(claims)]
    return "\n\n".join(parts) + "\n"
