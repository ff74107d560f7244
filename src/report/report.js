// Draws the charts of a run, or those of several runs together. `data` holds the numbers.
const schemes = data.schemes;

// ---- colours ----
// Uncoded is the grey baseline; the others take the palette in order, dashed when it starts again. Of several runs each
// may have its uncoded.
let coded = 0;
for (const scheme of schemes) {
  const number = /^uncoded(:|$)/.test(scheme.label) ? 0 : ++coded;
  scheme.colour = `var(--c${number && (number - 1) % 8 + 1})`;
  scheme.stroke = `stroke:${scheme.colour};stroke-dasharray:${number > 8 ? '6 3' : 'none'}`;
}
{{heat.js}}

// ---- total time ----
const draw_bars = () => {
  const row = 46, height = row * schemes.length + 44;
  const [root, width] = frame('bars', height, 'total time of each scheme');
  const most = largest_of(schemes, s => Math.max(s.seconds, s.predicted || 0, s.limit || 0)) || 1;
  const [scale, name] = unit(most);
  const x = s => 1 + s / most * (width - 84);
  for (const tick of ticks(0, most * scale, width / 110)) {
    root.append(line(x(tick / scale), 0, x(tick / scale), height - 38, 'grid'),
                text(x(tick / scale), height - 22, tick, tick ? 'middle' : 'start'));
  }
  root.append(text(x(most / 2), height - 4, `time for all jobs (${name})`));
  schemes.forEach((s, i) => {
    const top = i * row, end = x(Math.max(s.seconds, s.predicted || 0));
    const group = svg('g', {}, svg('rect', {x: 0, y: top, width, height: row, fill: 'transparent'}),
      text(1, top + 14, s.label, 'start', 'name'),
      svg('rect', {x: 1, y: top + 20, width: Math.max(1, x(s.seconds) - 1), height: 18, rx: 2, fill: s.colour}));
    if (s.limit != null) {
      const d = `M${x(s.limit)} ${top + 17}v24`;
      group.append(svg('path', {class: 'mark-limit-back', d}), svg('path', {class: 'mark-limit', d}));
    }
    if (s.predicted != null) {
      group.append(svg('path', {class: 'mark-predicted', d: `M${x(s.predicted)} ${top + 23}l6 6-6 6-6-6z`}));
    }
    group.append(text(end + 12, top + 33, seconds(s.seconds), 'start', 'value'));
    group.onmousemove = event => show_tip(event, s.label, [
      ['measured', seconds(s.seconds)], ['predicted', seconds(s.predicted)], ['clairvoyant limit', seconds(s.limit)],
      ['against uncoded', s.speedUp == null ? '-' : s.speedUp.toFixed(2) + ' times as fast']]);
    group.onmouseleave = hide_tip;
    root.append(group);
  });
};

// ---- loss ----
// Simulations have none.
const learned = schemes.filter(s => s.loss.some(points => points.loss.length));
// Points [x, loss] of one model, or of the mean over all of them once each has a loss.
const curve = (s, model, axis) => {
  if (model >= 0) return (s.loss[model]?.loss ?? []).map((loss, i) => [s.loss[model][axis][i], loss]);
  const events = s.loss.flatMap((points, m) => points.loss.map((loss, i) => [points[axis][i], loss, m]));
  events.sort((a, b) => a[0] - b[0]);
  const newest = new Map(), mean = [];
  let sum = 0;
  for (const [x, loss, m] of events) {
    sum += loss - (newest.get(m) ?? 0);
    newest.set(m, loss);
    if (newest.size === s.loss.length) mean.push([x, sum / newest.size]);
  }
  return mean;
};
const draw_loss = () => {
  const axis = at('axis').value, model = Number(at('model').value);
  const visible = learned.filter(s => !s.hidden);
  for (const s of visible) {
    s.curve = curve(s, model, axis);
    if (at('smooth').checked) s.curve = smoothed(s.curve);
  }
  const left = 52, tall = 300, height = tall + 50;
  const [root, width] = frame('loss', height, 'training loss of each scheme');
  const wide = width - left - 12;
  const last = largest_of(visible, s => largest_of(s.curve, p => p[0]));
  const most = largest_of(visible, s => largest_of(s.curve, p => p[1]));
  if (!most) {
    root.append(text(width / 2, height / 2, 'no losses were recorded'));
    return;
  }
  const [scale, name] = axis === 'time' ? unit(last) : [1, ''];
  const x = v => left + v / (last || 1) * wide, y = v => 8 + (1 - v / (most * 1.03)) * (tall - 8);
  for (const tick of ticks(0, most, 5)) {
    root.append(line(left, y(tick), left + wide, y(tick), 'grid'), text(left - 8, y(tick) + 4, tick, 'end'));
  }
  for (const tick of ticks(0, last * scale, wide / 90, axis === 'job')) {
    root.append(line(x(tick / scale), tall, x(tick / scale), tall + 4, 'axis'),
                text(x(tick / scale), tall + 18, tick));
  }
  root.append(line(left, tall, left + wide, tall, 'axis'),
              text(left + wide / 2, height - 4, axis === 'time' ? `time since the scheme started (${name})` : 'job'),
              upright(12, tall / 2, 'training loss'));
  for (const s of visible) {
    const path = s.curve.map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join('L');
    if (path) root.append(svg('path', {class: 'curve', d: 'M' + path, style: s.stroke}));
  }
  follow_pointer(root, width, {left, wide, tall, last}, (event, value) => {
    const rows = visible.map(s => {
      const done = s.curve.length && value > s.curve[s.curve.length - 1][0];
      const point = s.curve.findLast(p => p[0] <= value);
      return [s.label, (point ? digits(point[1]) : '-') + (done && axis === 'time' ? ' (done)' : ''), s.colour];
    });
    show_tip(event, axis === 'time' ? seconds(value) : `job ${Math.floor(value)}`, rows);
  });
};

// ---- controls ----
for (const s of learned) {
  add_box('series', s.label, line_sample(s.stroke), shown => { s.hidden = !shown; draw_loss(); });
}
const names = data.models.length === 1 ? [] : [['mean over the models', -1]];
data.models.forEach((name, m) => names.push([name, m]));
at('model').append(...names.map(([name, value]) => html('option', {value}, name)));
for (const id of ['model', 'axis', 'smooth']) at(id).onchange = draw_loss;

if (!learned.length) at('losses').remove();
if (!played.length) at('times')?.remove();

keep_drawn(() => {
  if (!schemes.length) return;
  draw_bars();
  draw_heat();
  if (learned.length) draw_loss();
}, 'bars');
