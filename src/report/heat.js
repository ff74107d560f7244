// ---- response times ----
const kAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const value_of = new Uint8Array(128);
[...kAlphabet].forEach((c, i) => { value_of[c.charCodeAt(0)] = i; });
// Two characters a cell: 2048 * straggler + level; level 0 is no answer, else a step on a logarithmic scale.
// Of schemes whose rounds were recorded.
const played = at('heat') ? schemes.filter(s => s.cells) : [];
for (const s of played) {
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
  for (const s of played) for (const code of s.codes) if (code > 0 && code < 2048) all.push(s.time(code));
  const sorted = Float64Array.from(all).sort();
  if (!sorted.length) return [0.5, 1];
  const low = sorted[Math.floor(sorted.length * 0.005)], high = sorted[Math.floor((sorted.length - 1) * 0.995)];
  return high > low * 1.001 ? [low, high] : [low * 0.9, low * 1.1];
})();
const shade = shade_between(fast, slow);

let shown = played.reduce((best, s, i) => s.seconds < played[best].seconds ? i : best, 0);
const draw_heat = () => {
  if (!played.length) return;
  const s = played[shown], rounds = s.round.length, workers = s.workers;
  const colours = ramp();
  draw_scale('scale', colours, fast, slow);
  const strip = [18, 48], left = 48, top = 60;  // strip: stragglers per round, above the cells
  const side = 64;                              // stragglers per worker, beside the cells
  const tall = Math.max(140, Math.min(512, workers * 16)), height = top + tall + 42;
  const [root, width] = frame('heat', height, `response times, ${s.label}`);
  if (!rounds || !workers) {
    root.append(text(width / 2, height / 2, 'no rounds were recorded'));
    return;
  }
  const wide = width - left - 8 - side, density = Math.max(2, devicePixelRatio);
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
  const often = Array.from({length: workers}, (_, i) => {
    let count = 0;
    for (let r = 0; r < rounds; ++r) count += s.codes[r * workers + i] >> 11;
    return count / rounds;
  });
  const most_often = Math.max(0.01, largest_of(often, share => share));
  const edge = left + wide + 6, reach = side - 10;
  const lengths = often.map((share, i) => `H${edge + reach * share / most_often}V${top + (i + 1) * tall / workers}`);
  root.append(svg('path', {class: 'count', d: `M${edge} ${top}${lengths.join('')}H${edge}Z`}),
              line(edge, top, edge, top + tall, 'axis'), text(edge, top - 6, '0', 'start'),
              text(edge + reach, top - 6, `${Math.round(100 * most_often)} %`, 'end'),
              text(edge + reach, 10, 'of rounds', 'end'));
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
      ['straggles', `${(100 * often[i]).toFixed(0)} % of rounds`],
      ['round', `${seconds(s.closed[r] - s.opened[r])}, ${s.stragglers[r]} stragglers` +
                (s.waitedOut.includes(r) ? ', waited out' : '')]]);
  };
  root.onmouseleave = () => { mark.setAttribute('visibility', 'hidden'); hide_tip(); };
};

played.forEach((s, i) => {
  const tab = html('input', {type: 'radio', name: prefix + 'scheme'});
  tab.checked = i === shown;
  tab.onchange = () => { shown = i; draw_heat(); };
  at('tabs').append(html('label', {}, tab, html('span', {}, s.label)));
});
