"""The plots of docs/performance.md, drawn by gnuplot."""
import pathlib
import subprocess

from report import PAGE, merged

SCRIPT = """
set terminal svg size 960,400 font "sans-serif,13" background "#ffffff"
set output "{output}"
set title "{title}"
set ylabel "{unit}"
set style data histogram
set style histogram clustered gap 1
set style fill solid noborder
set boxwidth 0.9
set logscale y 10
set yrange [{bottom}:]
set format y "{format}"
set grid ytics linecolor "#dddddd"
set key outside top center horizontal
set xtics nomirror font ",10"
set bmargin 3.5
$rows << END
{rows}
END
plot {curves}
"""
COLOURS = ("#2a6f97", "#e07a5f", "#81b29a")


def rate(result):
    return result["acquisitions"] / result["seconds"]


def milliseconds(key):
    return lambda result: result[key] / 1000 if result[key] else 0


# File, title, unit, the lowest value, its format, and for each curve a workload, a name and a figure.
PLOTS = (
    ("pair", "Acquire and release, uncontended", "pairs per second, log scale", 100, "%.0f",
     (("pair", "loopback", rate), ("pair_pinned", "loopback, client on one core", rate),
      ("link_1ms", "link of 1 ms", rate))),
    ("crowd", "100 waiters in 10 processes, and 1,000 in one", "acquisitions per second, log scale",
     1, "%.0f", (("crowd_0ms", "sections of 0 ms", rate), ("crowd_1ms", "sections of 1 ms", rate),
                 ("thousand", "1,000 waiters", rate))),
    ("waiting", "How long 100 waiters wait, with sections of 1 ms", "ms, log scale", 0.01, "%g",
     (("crowd_1ms", "p50", milliseconds("p50_us")), ("crowd_1ms", "p99", milliseconds("p99_us")))),
)


def script(run, output, plot):
    _, heading, unit, bottom, form, curves = plot
    lines = []
    for name, competitor in run["competitors"].items():
        values = []
        for workload, _, figure in curves:
            result = merged(run["results"].get(f"{workload} {name}", []))
            # What is below the lowest value has no bar.
            value = figure(result) if result else 0
            values.append(f"{value:.4g}" if value > bottom else "NaN")
        label = f"{competitor['name']}\\n{competitor['language']}"
        lines.append(f'"{label}" ' + " ".join(values))
    drawn = ", ".join(
        f'$rows using {i + 2}:xtic(1) title "{label}" linecolor rgb "{COLOURS[i]}"'
        for i, (_, label, _) in enumerate(curves))
    return SCRIPT.format(output=output, title=heading, unit=unit, bottom=bottom, format=form,
                         rows="\n".join(lines), curves=drawn)


def draw(run, folder=PAGE.parent):
    for plot in PLOTS:
        output = pathlib.Path(folder) / f"performance_{plot[0]}.svg"
        subprocess.run(["gnuplot"], input=script(run, output, plot), text=True, check=True)
