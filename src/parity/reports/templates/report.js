(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // Text and grid follow the page's own colours, so that a change of theme needs no second figure.
  const themed = (layout) => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = (given) => ({ ...given, gridcolor: colour("--grid"), linecolor: colour("--line") });
    return {
      ...layout,
      xaxis: axis(layout.xaxis),
      yaxis: axis(layout.yaxis),
      annotations: (layout.annotations || []).map((note) => ({ ...note, bgcolor: colour("--bg") })),
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--fg") },
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--fg") } },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
    };
  };

  const draw = () => {
    for (const [name, { data, layout }] of Object.entries(figures)) {
      Plotly.react(`plot-${name}`, data, themed(layout), { responsive: true, displaylogo: false, displayModeBar: false });
    }
  };
  draw();
  dark.addEventListener("change", draw);

  // A link to a closed section would scroll to nothing.
  const open = () => {
    const section = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (section instanceof HTMLDetailsElement) { section.open = true; section.scrollIntoView(); }
  };
  open();
  window.addEventListener("hashchange", open);
})();
