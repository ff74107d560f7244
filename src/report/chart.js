// What the charts of all pages are drawn with. Every label goes in as text, never as markup. Where a page holds several
// runs, the ids of each begin with its own `prefix`.
const at = id => document.getElementById(prefix + id);

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
// Where a response time lies between the fast and the slow end of the colours, 0 ... 1.
const shade_between = (fast, slow) => {
  const low = Math.log(fast), range = Math.log(slow) - low;
  return time => Math.max(0, Math.min(1, (Math.log(time) - low) / range));
};
const draw_scale = (id, colours, fast, slow) => {
  const width = 300, [scale, name] = unit(slow), shade = shade_between(fast, slow);
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
  at(id).replaceChildren(
    html('span', {}, `response time (${name})`, root),
    html('span', {}, swatch('straggler', svg('path', {class: 'cross', d: 'M4 4l6 6M10 4l-6 6'})), 'straggler'),
    html('span', {}, swatch('idle'), 'no work'));
};

// ---- curves ----
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

// ---- the box that follows the pointer ----
const tip = document.getElementById('tip');
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

// A line that follows the pointer across a plot from x = left, `wide` by `tall`, whose values are 0 ... last;
// `show` tells what is at a value.
const follow_pointer = (root, width, {left, wide, tall, last}, show) => {
  const cursor = line(0, 8, 0, tall, 'cursor');
  cursor.setAttribute('visibility', 'hidden');
  root.append(cursor);
  root.onmousemove = event => {
    const px = pointer(event, root, width)[0], value = (px - left) / wide * last;
    if (value < 0 || value > last) return root.onmouseleave();
    cursor.setAttribute('transform', `translate(${px} 0)`);
    cursor.setAttribute('visibility', 'visible');
    show(event, value);
  };
  root.onmouseleave = () => { cursor.setAttribute('visibility', 'hidden'); hide_tip(); };
};

// A ticked box under `id`, beside a sample of the marks it stands for, that tells `changed` whether it is ticked.
const add_box = (id, label, sample, changed) => {
  const box = html('input', {type: 'checkbox', checked: ''});
  box.onchange = () => changed(box.checked);
  at(id).append(html('label', {}, box, sample, label));
};
const line_sample = style => svg('svg', {width: 22, height: 4},
  svg('line', {x2: 22, y1: 2, y2: 2, 'stroke-width': 3, style}));
const dot_sample = style => svg('svg', {width: 10, height: 10}, svg('circle', {cx: 5, cy: 5, r: 4, style}));

// Draws again whenever the width of `id`, the colour scheme or the medium changes.
const keep_drawn = (draw, id) => {
  is_dark.addEventListener('change', draw);
  // Paper is light, so pictures are drawn anew for it.
  addEventListener('beforeprint', () => { page.add('printing'); draw(); });
  addEventListener('afterprint', () => { page.remove('printing'); draw(); });
  let drawn_at = at(id).clientWidth;
  draw();
  // In the next frame: drawing changes heights, which must not happen inside the observer.
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (at(id).clientWidth === drawn_at) return;
    drawn_at = at(id).clientWidth;
    draw();
  })).observe(document.body);
};
