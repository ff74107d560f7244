// ---- lines, by uPlot ----
const kLinesHeight = 300;
const charts = new Map();  // by the id of their figure: {chart, look}

// Draws series over a common x; the arrays are kept. Made anew only when names or colours change; a part that was zoomed
// into stays.
const draw_lines = (id, {x, y, series}, data) => {
  if (!uPlot) {
    at(id).className = 'absent';
    at(id).replaceChildren(html('p', {class: 'note'}, 'Line charts were not built in: the build could not fetch their library.'));
    return;
  }
  const width = measured.width[id], {colour} = measured;
  const look = JSON.stringify([x.name, y.name, series, colour.ink]);
  const known = charts.get(id);
  if (known?.look === look) {
    const {chart} = known, old = chart.data[0], scale = chart.scales.x;
    const zoomed = old.length > 1 && (scale.min > old[0] || scale.max < old[old.length - 1]);
    if (chart.width !== width) chart.setSize({width, height: kLinesHeight});
    chart.setData(data, !zoomed);
    if (zoomed) chart.redraw();
    return;
  }
  known?.chart.destroy();
  const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  const axis = {stroke: colour.soft, font, labelFont: font, labelSize: 18, labelGap: 2,
                grid: {stroke: colour.grid, width: 1}, ticks: {stroke: colour.line, width: 1, size: 4}};
  const short = value => value == null ? '' : digits(value);
  const chart = new uPlot({
    width, height: kLinesHeight,
    cursor: {points: {size: 6}, drag: {x: true, y: false}},
    scales: {x: {time: false}, y: {range: (u, low, high) => [0, high > 0 ? high * 1.03 : 1]}},
    axes: [{...axis, label: x.name, size: 30, values: (u, list) => list.map(v => digits(v))},
           {...axis, label: y.name, size: 46, values: (u, list) => list.map(v => digits(v))}],
    series: [{label: x.name, value: (u, v) => short(v)},
             ...series.map(s => ({label: s.name, stroke: colour[s.colour], width: s.width ?? 1.6, dash: s.dash, spanGaps: true,
                                  points: {show: () => store.columns.round.length < 24, size: 4}, value: (u, v) => short(v)}))],
  }, data, at(id));
  charts.set(id, {chart, look});
};

// One column's models with their losses; smoothed over those that are known.
const loss_of = (m, smooth) => {
  const loss = store.columns.loss[m];
  if (!smooth) return loss;
  const points = [];
  loss.forEach((value, i) => { if (value != null) points.push([i, value]); });
  const line = new Array(loss.length).fill(null);
  for (const [i, value] of smoothed(points)) line[i] = value;
  return line;
};
const draw_losses = () => {
  const over = at('axis').value, {models} = store.told.run;
  const [scale, name] = over === 'jobs' ? [1, ''] : unit(largest_of(store.columns.closed, t => t));
  draw_lines('loss', {
    x: {name: over === 'jobs' ? 'jobs decoded' : `time since the scheme started (${name})`}, y: {name: 'training loss'},
    series: models.map((model, m) => ({name: model, colour: `c${m % 8 + 1}`, dash: m < 8 ? undefined : [6, 3]})),
  }, [store.columns[over].map(v => v * scale), ...models.map((_, m) => loss_of(m, at('smooth').checked))]);
};

// Measured time beside what waiting for all would have taken and what a clairvoyant would need, over the jobs.
const draw_won = () => {
  const {columns} = store, {slowest, limit} = store.told.now;
  at('won-note').textContent = slowest == null
    ? 'How long stopped workers would have taken is known where response times are injected (--profile, --delays).'
    : 'Waiting for all: each round so far as long as its slowest worker would have taken, by its injected response time. ' +
      (limit == null ? '' : 'Clairvoyant: what no scheme that keeps its jobs within their rounds can beat.');
  const lines = [{name: 'this run', colour: 'c1', width: 2.2, data: columns.closed}];
  if (slowest != null) lines.push({name: 'waiting for all', colour: 'c0', data: columns.slowest});
  if (limit != null) lines.push({name: 'clairvoyant', colour: 'ink', dash: [5, 4], data: columns.limit});
  const [scale, name] = unit(largest_of(columns.closed, t => t));
  draw_lines('won', {x: {name: 'jobs decoded'}, y: {name: `time (${name})`},
                     series: lines.map(({data, ...look}) => look)},
             [columns.jobs.slice(), ...lines.map(({data}) => data.map(v => v == null ? null : v * scale))]);
};
for (const id of ['axis', 'smooth']) at(id).onchange = () => redraw(draw_losses);
