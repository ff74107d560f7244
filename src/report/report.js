// Draws the charts of the page from the JSON in #data. Every label goes in as text, never as markup.
(() => {
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const at = id => document.getElementById(id);
const schemes = data.schemes;

// ---- elements ----
const fill = (node, attributes, children) => {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
const text = (x, y, content, anchor = 'middle', kind = '') =>
  svg('text', {x, y, 'text-anchor': anchor, class: kind}, content);
const upright = (x, y, content) =>
  svg('text', {transform: `translate(${x} ${y}) rotate(-90)`, 'text-anchor': 'middle'}, content);
const line = (x1, y1, x2, y2, kind) => svg('line', {x1, y1, x2, y2, class: kind});
const canvas_of = (width, height) => Object.assign(document.createElement('canvas'), {width, height});

// ---- numbers ----
const digits = value => Math.abs(value) >= 1000 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
const seconds = s => s == null ? '-' : s >= 1 || s === 0 ? digits(s) + ' s' : s >= 1e-3 ? digits(s * 1e3) + ' ms'
                                                                                     : digits(s * 1e6) + ' µs';
const unit = largest => largest >= 1 ? [1, 's'] : largest >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
// About `count` round numbers in [low, high].
const ticks = (low, high, count, whole = false) => {
  const rough = (high - low) / Math.max(1, count) || 1;
  const ten = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map(f => f * ten).find(s => s >= rough * 0.999);
  if (whole) step = Math.max(1, step);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i) {
    list.push(Number((i * step).toPrecision(12)));
  }
  return list;
};
const largest_of = (list, value) => list.reduce((most, item) => Math.max(most, value(item)), 0);

// ---- colours ----
// Uncoded is the grey baseline; the others take the palette in order, dashed when it starts again.
let coded = 0;
for (const scheme of schemes) {
  const number = /^uncoded(:|$)/.test(scheme.label) ? 0 : ++coded;
  scheme.colour = `var(--c${number && (number - 1) % 8 + 1})`;
  scheme.stroke = `stroke:${scheme.colour};stroke-dasharray:${number > 8 ? '6 3' : 'none'}`;
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const oklch = (lightness, chroma, hue) => {
  const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3;
  return [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s]
    .map(c => c <= 0.0031308 ? 12.92 * Math.max(0, c) : 1.055 * Math.min(1, c) ** (1 / 2.4) - 0.055)
    .map(c => Math.round(255 * c));
};
const page = document.documentElement.classList;
const is_dark = matchMedia('screen and (prefers-color-scheme: dark)');
// Equal steps of lightness in OKLab, from the page's colour (fast) away from it (slow).
const ramp = () => {
  const dark = is_dark.matches && !page.contains('printing');
  return Array.from({length: 256}, (_, i) => {
    const f = i / 255;
    const [r, g, b] = dark ? oklch(0.30 + 0.65 * f, 0.05 + 0.09 * Math.sin(Math.PI * f), 265 - 45 * f)
                           : oklch(0.96 - 0.66 * f, 0.03 + 0.09 * Math.sin(Math.PI * f * 0.8), 220 + 50 * f);
    return `rgb(${r},${g},${b})`;
  });
};

// ---- the box that follows the pointer ----
const tip = at('tip');
const show_tip = (event, title, rows) => {
  tip.replaceChildren(html('b', {}, title), ...rows.map(([name, value, colour]) => html('div', {},
    html('span', {}, ...(colour ? [html('i', {style: `background:${colour}`})] : []), name), html('em', {}, value))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const right = event.clientX + 16 + box.width > innerWidth;
  tip.style.left = Math.max(4, right ? event.clientX - 16 - box.width : event.clientX + 16) + 'px';
  tip.style.top = Math.max(4, Math.min(event.clientY + 16, innerHeight - box.height - 4)) + 'px';
};
const hide_tip = () => { tip.hidden = true; };

const frame = (id, height, label) => {
  const width = Math.max(280, at(id).clientWidth);
  const root = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label});
  at(id).replaceChildren(root);
  return [root, width];
};
// The pointer in the drawing's own coordinates, which printing or zooming may scale.
const pointer = (event, root, width) => {
  const box = root.getBoundingClientRect();
  return [(event.clientX - box.left) * width / box.width, (event.clientY - box.top) * width / box.width];
};

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

// ---- response times ----
const kAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const value_of = new Uint8Array(128);
[...kAlphabet].forEach((c, i) => { value_of[c.charCodeAt(0)] = i; });
// Two characters a cell: 2048 * straggler + level; level 0 is no answer, else a step on a logarithmic scale.
for (const s of schemes) {
  s.codes = new Uint16Array(s.cells.length / 2);
  for (let i = 0; i < s.codes.length; ++i) {
    s.codes[i] = 64 * value_of[s.cells.charCodeAt(2 * i)] + value_of[s.cells.charCodeAt(2 * i + 1)];
  }
  s.time = code => s.low * (s.high / s.low) ** (((code & 2047) - 1) / 2046);
  s.stragglers = s.round.map((_, r) => {
    let count = 0;
    for (let i = 0; i < s.workers; ++i) count += s.codes[r * s.workers + i] >> 11;
    return count;
  });
}
// One scale for all schemes, without the most extreme half percent at either end.
const [fast, slow] = (() => {
  const all = [];
  for (const s of schemes) for (const code of s.codes) if (code > 0 && code < 2048) all.push(s.time(code));
  const sorted = Float64Array.from(all).sort();
  if (!sorted.length) return [0.5, 1];
  const low = sorted[Math.floor(sorted.length * 0.005)], high = sorted[Math.floor((sorted.length - 1) * 0.995)];
  return high > low * 1.001 ? [low, high] : [low * 0.9, low * 1.1];
})();
const shade = time => Math.max(0, Math.min(1, Math.log(time / fast) / Math.log(slow / fast)));

const draw_scale = colours => {
  const width = 300, [scale, name] = unit(slow);
  const list = slow / fast > 12
    ? [-3, -2, -1, 0, 1, 2, 3].flatMap(e => [1, 2, 5].map(f => f * 10 ** e))
        .filter(t => t >= fast * scale && t <= slow * scale)
    : ticks(fast * scale, slow * scale, 5);
  const bar = canvas_of(256, 1), pen = bar.getContext('2d');
  colours.forEach((colour, i) => { pen.fillStyle = colour; pen.fillRect(i, 0, 1, 1); });
  const root = svg('svg', {width: width + 40, height: 34});
  root.append(svg('image', {x: 20, y: 0, width, height: 12, preserveAspectRatio: 'none', href: bar.toDataURL()}));
  let free = 0;
  for (const tick of list) {
    const x = 20 + width * shade(tick / scale);
    if (x < free) continue;
    free = x + 34;
    root.append(line(x, 12, x, 16, 'axis'), text(x, 29, Number(tick.toPrecision(3))));
  }
  const swatch = (kind, ...marks) => svg('svg', {width: 14, height: 14},
    svg('rect', {width: 14, height: 14, rx: 2, style: `fill:var(--${kind})`}), ...marks);
  at('scale').replaceChildren(
    html('span', {}, `response time (${name})`, root),
    html('span', {}, swatch('straggler', svg('path', {class: 'cross', d: 'M4 4l6 6M10 4l-6 6'})), 'straggler'),
    html('span', {}, swatch('idle'), 'no work'));
};

let shown = schemes.reduce((best, s, i) => s.seconds < schemes[best].seconds ? i : best, 0);
const draw_heat = () => {
  const s = schemes[shown], rounds = s.round.length, workers = s.workers;
  const colours = ramp();
  draw_scale(colours);
  const strip = [18, 48], left = 48, top = 60;  // strip: stragglers per round, above the cells
  const tall = Math.max(140, Math.min(512, workers * 16)), height = top + tall + 42;
  const [root, width] = frame('heat', height, `response times, ${s.label}`);
  if (!rounds || !workers) {
    root.append(text(width / 2, height / 2, 'no rounds were recorded'));
    return;
  }
  const wide = width - left - 8, density = Math.max(2, devicePixelRatio);
  const picture = canvas_of(Math.round(wide * density), Math.round(tall * density));
  const pen = picture.getContext('2d');
  const edge_x = r => Math.floor(r * picture.width / rounds), edge_y = i => Math.floor(i * picture.height / workers);
  const paint = (r, i) => pen.fillRect(edge_x(r), edge_y(i), Math.max(1, edge_x(r + 1) - edge_x(r)),
                                       Math.max(1, edge_y(i + 1) - edge_y(i)));
  const each = visit => {
    for (let r = 0; r < rounds; ++r) for (let i = 0; i < workers; ++i) visit(r, i, s.codes[r * workers + i]);
  };
  pen.fillStyle = css('--idle');
  pen.fillRect(0, 0, picture.width, picture.height);
  each((r, i, code) => {
    if (code === 0 || code >= 2048) return;
    pen.fillStyle = colours[Math.round(255 * shade(s.time(code)))];
    paint(r, i);
  });
  // Stragglers last: where cells are smaller than a pixel, they must not be painted over.
  pen.fillStyle = css('--straggler');
  each((r, i, code) => { if (code >= 2048) paint(r, i); });
  const arm = Math.min(wide / rounds, tall / workers) * density * 0.25;
  if (arm >= 1.5 * density) {
    pen.strokeStyle = css('--card');
    pen.lineWidth = Math.min(1.6, arm / 2.5) * density;
    pen.beginPath();
    each((r, i, code) => {
      if (code < 2048) return;
      const x = (edge_x(r) + edge_x(r + 1)) / 2, y = (edge_y(i) + edge_y(i + 1)) / 2;
      pen.moveTo(x - arm, y - arm), pen.lineTo(x + arm, y + arm);
      pen.moveTo(x + arm, y - arm), pen.lineTo(x - arm, y + arm);
    });
    pen.stroke();
  }
  root.append(svg('image', {x: left, y: top, width: wide, height: tall, preserveAspectRatio: 'none',
                            href: picture.toDataURL()}));

  const most = Math.max(1, largest_of(s.stragglers, count => count));
  const bars = s.stragglers.map((count, r) =>
    `V${strip[1] - (strip[1] - strip[0]) * count / most}H${left + (r + 1) * wide / rounds}`);
  root.append(svg('path', {class: 'count', d: `M${left} ${strip[1]}${bars.join('')}V${strip[1]}Z`}),
              line(left, strip[1], left + wide, strip[1], 'axis'), text(left - 6, strip[0] + 8, most, 'end'),
              text(left - 6, strip[1], 0, 'end'), text(left, 10, 'stragglers per round', 'start'));
  for (const r of ticks(0, rounds - 1, wide / 70, true)) {
    const x = left + (r + 0.5) * wide / rounds;
    root.append(line(x, top + tall, x, top + tall + 4, 'axis'), text(x, top + tall + 18, s.round[r]));
  }
  for (const i of ticks(0, workers - 1, tall / 40, true)) {
    root.append(text(left - 6, top + (i + 0.5) * tall / workers + 4, i, 'end'));
  }
  root.append(text(left + wide / 2, height - 4, 'round'), upright(12, top + tall / 2, 'worker'));

  const mark = svg('rect', {class: 'cell', width: Math.max(3, wide / rounds), height: Math.max(3, tall / workers),
                            visibility: 'hidden'});
  root.append(mark);
  root.onmousemove = event => {
    const [x, y] = pointer(event, root, width);
    const r = Math.floor((x - left) * rounds / wide), i = Math.floor((y - top) * workers / tall);
    if (r < 0 || r >= rounds || i < 0 || i >= workers) return root.onmouseleave();
    const code = s.codes[r * workers + i];
    mark.setAttribute('x', left + r * wide / rounds);
    mark.setAttribute('y', top + i * tall / workers);
    mark.setAttribute('visibility', 'visible');
    const answer = code & 2047 ? seconds(s.time(code)) : code ? 'none before the close' : 'no work';
    show_tip(event, `worker ${i}, round ${s.round[r]}`, [
      [code >= 2048 && code & 2047 ? 'last partial answer' : 'answer', answer],
      ['straggler', code >= 2048 ? 'yes' : 'no'],
      ['round', `${seconds(s.closed[r] - s.opened[r])}, ${s.stragglers[r]} stragglers` +
                (s.waitedOut.includes(r) ? ', waited out' : '')]]);
  };
  root.onmouseleave = () => { mark.setAttribute('visibility', 'hidden'); hide_tip(); };
};

// ---- loss ----
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
// Mean over a window of a fiftieth of the curve, shorter at its ends, so that nothing shifts.
const smoothed = points => {
  const half = Math.ceil(points.length / 100);
  const sums = [0];
  for (const [, loss] of points) sums.push(sums[sums.length - 1] + loss);
  return points.map(([x], i) => {
    const reach = Math.min(half, i, points.length - 1 - i);
    return [x, (sums[i + reach + 1] - sums[i - reach]) / (2 * reach + 1)];
  });
};
const draw_loss = () => {
  const axis = at('axis').value, model = Number(at('model').value);
  const visible = schemes.filter(s => !s.hidden);
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
  const cursor = line(0, 8, 0, tall, 'cursor');
  cursor.setAttribute('visibility', 'hidden');
  root.append(cursor);
  root.onmousemove = event => {
    const px = pointer(event, root, width)[0], value = (px - left) / wide * last;
    if (value < 0 || value > last) return root.onmouseleave();
    cursor.setAttribute('transform', `translate(${px} 0)`);
    cursor.setAttribute('visibility', 'visible');
    const rows = visible.map(s => {
      const done = s.curve.length && value > s.curve[s.curve.length - 1][0];
      const point = s.curve.findLast(p => p[0] <= value);
      return [s.label, (point ? digits(point[1]) : '-') + (done && axis === 'time' ? ' (done)' : ''), s.colour];
    });
    show_tip(event, axis === 'time' ? seconds(value) : `job ${Math.floor(value)}`, rows);
  };
  root.onmouseleave = () => { cursor.setAttribute('visibility', 'hidden'); hide_tip(); };
};

// ---- controls ----
schemes.forEach((s, i) => {
  const tab = html('input', {type: 'radio', name: 'scheme'});
  tab.checked = i === shown;
  tab.onchange = () => { shown = i; draw_heat(); };
  at('tabs').append(html('label', {}, tab, html('span', {}, s.label)));
  const box = html('input', {type: 'checkbox', checked: ''});
  box.onchange = () => { s.hidden = !box.checked; draw_loss(); };
  at('series').append(html('label', {}, box, svg('svg', {width: 22, height: 4},
    svg('line', {x2: 22, y1: 2, y2: 2, 'stroke-width': 3, style: s.stroke})), s.label));
});
const names = data.models.length > 1 ? [['mean over the models', -1]] : [];
data.models.forEach((name, m) => names.push([name, m]));
at('model').append(...names.map(([name, value]) => html('option', {value}, name)));
for (const id of ['model', 'axis', 'smooth']) at(id).onchange = draw_loss;

const draw = () => { if (schemes.length) { draw_bars(); draw_heat(); draw_loss(); } };
is_dark.addEventListener('change', draw);
// Paper is light, so pictures are drawn anew for it.
addEventListener('beforeprint', () => { page.add('printing'); draw(); });
addEventListener('afterprint', () => { page.remove('printing'); draw(); });
let drawn_at = 0;
// In the next frame: drawing changes heights, which must not happen inside the observer.
new ResizeObserver(() => requestAnimationFrame(() => {
  if (at('bars').clientWidth === drawn_at) return;
  drawn_at = at('bars').clientWidth;
  draw();
})).observe(document.body);
})();
