// ---- response times ----
// A pixel per cell, magnified: drawing takes as long for two rounds as for a thousand.
const views = [
  {name: 'whole run', of: () => store.columns},
  {name: `newest ${kNewest} rounds`, of: () => store.newest}];
let heat_view = 0;
const small = document.createElement('canvas');  // a pixel per cell

// One scale for all cells, without the most extreme half percent at either end.
const range_of = cells => {
  const count = new Uint32Array(kLevels);
  let all = 0;
  for (const {level} of cells) for (const l of level) if (l) { ++count[l]; ++all; }
  if (!all) return [0.5, 1];
  const quantile = share => {
    let below = 0;
    for (let l = 1; l < kLevels; ++l) if ((below += count[l]) > share * (all - 1)) return time_of(l);
    return time_of(kLevels - 1);
  };
  const low = quantile(0.005), high = quantile(0.995);
  return high > low * 1.02 ? [low, high] : [low * 0.9, low * 1.1];
};

const channels = colour => {  // of "#rrggbb" or "rgb(r,g,b)"
  const hex = /^#(..)(..)(..)$/.exec(colour);
  return hex ? hex.slice(1).map(c => parseInt(c, 16)) : colour.match(/\d+/g).map(Number);
};

const paint_cells = (cells, workers, fast, slow, colours) => {
  small.width = cells.length;
  small.height = workers;
  const pen = small.getContext('2d'), picture = pen.createImageData(cells.length, workers);
  const pixels = new Uint32Array(picture.data.buffer);  // as bytes: red, green, blue, 255
  const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  const straggler = channels(measured.colour.straggler), idle = channels(measured.colour.idle);
  const ramp_channels = colours.map(channels), shade = shade_between(fast, slow);
  const of_level = Array.from({length: kLevels}, (_, l) => l ? ramp_channels[Math.round(255 * shade(time_of(l)))] : idle);
  const plain = Uint32Array.from(of_level, packed), orange = packed(straggler);
  const blend = (level, s) => packed(of_level[level].map((c, k) => Math.round(c + (straggler[k] - c) * s)));
  cells.forEach(({level, share}, c) => {
    for (let i = 0, to = c; i < workers; ++i, to += cells.length) {
      pixels[to] = share[i] === 0 ? plain[level[i]] : share[i] === 63 ? orange : blend(level[i], share[i] / 63);
    }
  });
  pen.putImageData(picture, 0, 0);
};

const draw_crosses = (pen, cells, workers, wide, tall, density) => {
  const w = wide * density / cells.length, h = tall * density / workers, arm = Math.min(w, h) * 0.25;
  if (arm < 1.5 * density) return;
  pen.strokeStyle = measured.colour.card;
  pen.lineWidth = Math.min(1.6 * density, arm / 2.5);
  pen.beginPath();
  cells.forEach(({share}, c) => {
    for (let i = 0; i < workers; ++i) {
      if (share[i] < 32) continue;
      const x = (c + 0.5) * w, y = (i + 0.5) * h;
      pen.moveTo(x - arm, y - arm), pen.lineTo(x + arm, y + arm);
      pen.moveTo(x + arm, y - arm), pen.lineTo(x - arm, y + arm);
    }
  });
  pen.stroke();
};

const rounds_text = (s, c) => s.rounds[c] === 1 ? `round ${s.round[c]}`
                                                : `rounds ${s.round[c]} to ${s.round[c] + s.rounds[c] - 1}`;

const draw_heat = () => {
  const s = views[heat_view].of(), {workers} = store.told.run, count = s.cells.length;
  const each = store.told.stride === 1 || heat_view === 1 ? 'one round' : `${store.told.stride} rounds`;
  at('heat-note').textContent = `A row is a worker, a column ${each}; the colour is how long after the round opened its answer came. ` +
    (each === 'one round' ? 'Orange: the round closed without it.'
                          : 'The more orange, the more of these rounds closed without it.');
  const figure = at('heat'), [canvas, overlay] = figure.children;
  const width = measured.width.heat;
  const strip = [18, 48], left = 48, top = 60, side = 64;
  const tall = Math.max(140, Math.min(512, workers * 16)), height = top + tall + 42, wide = width - left - 8 - side;
  const root = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'response times'});
  overlay.replaceChildren(root);
  canvas.hidden = !count;
  if (!count) {
    root.append(text(width / 2, height / 2, 'no round has closed yet'));
    return;
  }
  const colours = ramp(), [fast, slow] = range_of(s.cells);
  draw_scale('scale', colours, fast, slow);
  paint_cells(s.cells, workers, fast, slow, colours);
  const density = Math.max(1, devicePixelRatio);
  canvas.style.cssText = `left:${left}px;top:${top}px;width:${wide}px;height:${tall}px`;
  canvas.width = Math.round(wide * density);
  canvas.height = Math.round(tall * density);
  const pen = canvas.getContext('2d');
  pen.imageSmoothingEnabled = count > canvas.width || workers > canvas.height;
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(small, 0, 0, canvas.width, canvas.height);
  draw_crosses(pen, s.cells, workers, wide, tall, density);

  const most = Math.max(1, Math.ceil(largest_of(s.stragglers, n => n)));
  const bars = s.stragglers.map((n, c) =>
    `V${(strip[1] - (strip[1] - strip[0]) * n / most).toFixed(1)}H${(left + (c + 1) * wide / count).toFixed(1)}`);
  root.append(svg('path', {class: 'count', d: `M${left} ${strip[1]}${bars.join('')}V${strip[1]}Z`}),
              line(left, strip[1], left + wide, strip[1], 'axis'), text(left - 6, strip[0] + 8, most, 'end'),
              text(left - 6, strip[1], 0, 'end'), text(left, 10, 'stragglers per round', 'start'));
  const often = new Float64Array(workers);
  s.cells.forEach(({share}, c) => { for (let i = 0; i < workers; ++i) often[i] += share[i] / 63 * s.rounds[c]; });
  const played = s.rounds.reduce((sum, n) => sum + n, 0);
  for (let i = 0; i < workers; ++i) often[i] /= played;
  const most_often = Math.max(0.01, often.reduce((a, b) => Math.max(a, b), 0));
  const edge = left + wide + 6, reach = side - 10;
  const lengths = Array.from(often, (share, i) =>
    `H${(edge + reach * share / most_often).toFixed(1)}V${(top + (i + 1) * tall / workers).toFixed(1)}`);
  root.append(svg('path', {class: 'count', d: `M${edge} ${top}${lengths.join('')}H${edge}Z`}),
              line(edge, top, edge, top + tall, 'axis'), text(edge, top - 6, '0', 'start'),
              text(edge + reach, top - 6, `${Math.round(100 * most_often)} %`, 'end'),
              text(edge + reach, 10, 'of rounds', 'end'));
  const first = s.round[0], last = s.round[count - 1] + s.rounds[count - 1];
  for (const r of ticks(first, last - 1, wide / 80, true)) {
    const x = left + (r + 0.5 - first) / (last - first) * wide;
    root.append(line(x, top + tall, x, top + tall + 4, 'axis'), text(x, top + tall + 18, r));
  }
  for (const i of ticks(0, workers - 1, tall / 40, true)) {
    root.append(text(left - 6, top + (i + 0.5) * tall / workers + 4, i, 'end'));
  }
  root.append(text(left + wide / 2, height - 4, 'round'), upright(12, top + tall / 2, 'worker'));

  const mark = svg('rect', {class: 'cell', width: Math.max(3, wide / count), height: Math.max(3, tall / workers),
                            visibility: 'hidden'});
  root.append(mark);
  root.onmousemove = event => {
    const [x, y] = pointer(event, root, width);
    const c = Math.floor((x - left) * count / wide), i = Math.floor((y - top) * workers / tall);
    if (c < 0 || c >= count || i < 0 || i >= workers) return root.onmouseleave();
    mark.setAttribute('x', left + c * wide / count);
    mark.setAttribute('y', top + i * tall / workers);
    mark.setAttribute('visibility', 'visible');
    const level = s.cells[c].level[i], share = s.cells[c].share[i], one = s.rounds[c] === 1;
    show_tip(event, `worker ${i}, ${rounds_text(s, c)}`, [
      [one ? 'answer' : 'mean answer', level ? seconds(time_of(level)) : share ? 'none before the close' : 'no work'],
      one ? ['straggler', share ? 'yes' : 'no'] : ['straggled', `${Math.round(100 * share / 63)} % of them`],
      ['straggles', `${(100 * often[i]).toFixed(0)} % of the rounds shown`],
      [one ? 'round' : 'mean round', `${seconds(s.seconds[c])}, ${digits(s.stragglers[c])} stragglers`]]);
  };
  root.onmouseleave = () => { mark.setAttribute('visibility', 'hidden'); hide_tip(); };
};

views.forEach((view, i) => {
  const tab = html('input', {type: 'radio', name: 'view'});
  tab.checked = i === heat_view;
  tab.onchange = () => { heat_view = i; redraw(draw_heat); };
  at('tabs').append(html('label', {}, tab, html('span', {}, view.name)));
});
