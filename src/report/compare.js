// Draws the charts of a comparison. The JSON in #data holds the numbers.
const data = JSON.parse(at('data').textContent);
const schemes = data.schemes;

// ---- colours ----
// A colour for each scheme, uncoded in grey; dashed where it starts several jobs per round.
const kinds = ['uncoded'];
for (const name of [...schemes.map(s => s.name), ...data.trials.map(t => t[0])]) {
  if (!kinds.includes(name)) kinds.push(name);
}
const colour_of = name => {
  const number = kinds.indexOf(name);
  return `var(--c${number && (number - 1) % 8 + 1})`;
};
const rule_of = close => close === 'eager' ? '' : ', ' + close;
for (const s of schemes) {
  s.colour = colour_of(s.name);
  s.stroke = `stroke:${s.colour};stroke-dasharray:${s.m > 1 ? '6 3' : 'none'}`;
  s.full_label = s.label + rule_of(s.close);
}
const jobs_per_round = m => m === 1 ? 'one job per round' : `${m} jobs per round`;

{{heat.js}}

// ---- time of each scheme ----
const draw_bars = () => {
  const row = 42, head = 30;
  const groups = new Set(schemes.map(s => s.m)).size;
  const height = row * schemes.length + head * groups + 44;
  const [root, width] = frame('bars', height, 'time of each scheme');
  const most = largest_of(schemes, s => Math.max(s.most, s.limit)) || 1;
  const [scale, name] = unit(most);
  const x = s => 1 + s / most * (width - 150);
  for (const tick of ticks(0, most * scale, width / 110)) {
    root.append(line(x(tick / scale), 0, x(tick / scale), height - 38, 'grid'),
                text(x(tick / scale), height - 22, tick, tick ? 'middle' : 'start'));
  }
  root.append(text(x(most / 2), height - 4, `time for ${data.jobs} jobs (${name})`));
  let top = 0, m = 0;
  for (const s of schemes) {
    if (s.m !== m) {
      m = s.m;
      root.append(text(1, top + 20, jobs_per_round(m), 'start', 'value'));
      top += head;
    }
    const middle = top + 26;
    const group = svg('g', {}, svg('rect', {x: 0, y: top, width, height: row, fill: 'transparent'}),
      text(1, top + 13, s.full_label + (s.tuned ? ' *' : ''), 'start', 'name'),
      svg('rect', {x: 1, y: middle - 7, width: Math.max(1, x(s.seconds) - 1), height: 14, rx: 2, fill: s.colour}));
    if (s.limit > 0) {
      const d = `M${x(s.limit)} ${middle - 10}v20`;
      group.append(svg('path', {class: 'mark-limit-back', d}), svg('path', {class: 'mark-limit', d}));
    }
    const d = `M${x(s.least)} ${middle}H${x(s.most)}M${x(s.least)} ${middle - 4}v8M${x(s.most)} ${middle - 4}v8`;
    group.append(svg('path', {class: 'whisker-back', d}), svg('path', {class: 'whisker', d}),
                 text(x(Math.max(s.most, s.limit)) + 10, middle + 4,
                      `${seconds(s.seconds)}, ${(s.seconds / s.limit).toFixed(2)} x`, 'start', 'value'));
    group.onmousemove = event => show_tip(event, s.full_label, [
      ['mean', seconds(s.seconds)], ['standard deviation', seconds(s.sd)],
      ['least, most', `${seconds(s.least)}, ${seconds(s.most)}`], ['clairvoyant limit', seconds(s.limit)],
      ['load', digits(s.load)], ['decode delay', `${s.delay} rounds`],
      ['settings', s.tuned ? 'tuned' : 'as given']]);
    group.onmouseleave = hide_tip;
    root.append(group);
    top += row;
  }
};

// ---- jobs over time ----
const draw_progress = () => {
  const visible = played.filter(s => !s.hidden);
  const left = 52, tall = 320, height = tall + 50;
  const [root, width] = frame('progress', height, 'decoded jobs over time');
  const wide = width - left - 12;
  const last = largest_of(visible, s => s.doneAt[s.doneAt.length - 1] || 0) || 1;
  const [scale, name] = unit(last);
  const x = v => left + v / last * wide, y = v => 8 + (1 - v / data.jobs) * (tall - 8);
  for (const tick of ticks(0, data.jobs, 5, true)) {
    root.append(line(left, y(tick), left + wide, y(tick), 'grid'), text(left - 8, y(tick) + 4, tick, 'end'));
  }
  for (const tick of ticks(0, last * scale, wide / 90)) {
    root.append(line(x(tick / scale), tall, x(tick / scale), tall + 4, 'axis'),
                text(x(tick / scale), tall + 18, tick));
  }
  root.append(line(left, tall, left + wide, tall, 'axis'), text(left + wide / 2, height - 4, `time (${name})`),
              upright(12, tall / 2, 'decoded jobs'));
  for (const s of visible) {
    const steps = s.doneAt.map((t, i) => `H${x(t).toFixed(1)}V${y(s.done[i]).toFixed(1)}`).join('');
    root.append(svg('path', {class: 'curve', d: `M${x(0)} ${y(0)}${steps}`, style: s.stroke}));
  }
  follow_pointer(root, width, {left, wide, tall, last}, (event, value) => {
    show_tip(event, seconds(value), visible.map(s => {
      const i = s.doneAt.findLastIndex(t => t <= value);
      return [s.label, i < 0 ? 0 : s.done[i], s.colour];
    }));
  });
};

// ---- load against time ----
const trials = data.trials.map(([name, m, load, time, jobs, label, close]) => ({name, m, load, time, jobs, label, close}));
const longest_play = largest_of(trials, t => t.jobs);
const hidden_kinds = new Set();
const decades = (low, high) => {
  const steps = high / low < 12 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : [1, 2, 5];
  const list = [];
  for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; ++e) {
    for (const f of steps) {
      const tick = Number((f * 10 ** e).toPrecision(6));
      if (tick >= low && tick <= high) list.push(tick);
    }
  }
  return list;
};
const draw_scatter = () => {
  const m = Number(at('bundled').value);
  const shown_trials = trials.filter(t => t.m === m && !hidden_kinds.has(t.name));
  const rings = schemes.filter(s => s.m === m && !hidden_kinds.has(s.name));
  const left = 60, tall = 420, height = tall + 50;
  const [root, width] = frame('scatter', height, 'load against time per job of all settings tried');
  const wide = width - left - 12;
  const all = [...shown_trials.map(t => [t.load, t.time]), ...rings.map(s => [s.load, s.seconds / data.jobs])];
  if (!all.length) {
    root.append(text(width / 2, height / 2, 'nothing was tried'));
    return;
  }
  const range = index => {
    const low = all.reduce((least, p) => Math.min(least, p[index]), Infinity), high = largest_of(all, p => p[index]);
    return [low / 1.08, high * 1.08];
  };
  const [[x0, x1], [y0, y1]] = [range(0), range(1)];
  const x = v => left + Math.log(v / x0) / Math.log(x1 / x0) * wide;
  const y = v => 8 + (1 - Math.log(v / y0) / Math.log(y1 / y0)) * (tall - 8);
  for (const tick of decades(y0, y1)) {
    root.append(line(left, y(tick), left + wide, y(tick), 'grid'), text(left - 8, y(tick) + 4, tick, 'end'));
  }
  let free = 0;
  for (const tick of decades(x0, x1)) {
    root.append(line(x(tick), 8, x(tick), tall, 'grid'));
    if (x(tick) < free) continue;
    free = x(tick) + 40;
    root.append(text(x(tick), tall + 18, tick));
  }
  root.append(line(left, tall, left + wide, tall, 'axis'),
              text(left + wide / 2, height - 4, 'load (share of the data that a worker processes per round)'),
              upright(14, tall / 2, 'time per job (s)'));
  shown_trials.sort((a, b) => a.jobs - b.jobs);
  for (const t of shown_trials) {
    const whole = t.jobs >= longest_play;
    root.append(svg('circle', {cx: x(t.load).toFixed(1), cy: y(t.time).toFixed(1), r: whole ? 4 : 2.5,
                               style: `fill:${colour_of(t.name)}`, opacity: whole ? 0.9 : 0.35}));
  }
  for (const s of rings) {
    root.append(svg('circle', {class: 'ring', cx: x(s.load), cy: y(s.seconds / data.jobs), r: 7,
                               style: `stroke:${s.colour}`}));
  }
  const mark = svg('circle', {class: 'cell', r: 9, visibility: 'hidden'});
  root.append(mark);
  root.onmousemove = event => {
    const [px, py] = pointer(event, root, width);
    let best = null, least = 400;
    for (const t of [...rings.map(s => ({...s, time: s.seconds / data.jobs, jobs: null})), ...shown_trials]) {
      const d = (x(t.load) - px) ** 2 + (y(t.time) - py) ** 2;
      if (d < least) [best, least] = [t, d];
    }
    if (!best) return root.onmouseleave();
    mark.setAttribute('cx', x(best.load));
    mark.setAttribute('cy', y(best.time));
    mark.setAttribute('visibility', 'visible');
    show_tip(event, best.label, [['close', best.close], ['load', digits(best.load)], ['time per job', seconds(best.time)],
      ['played', best.jobs == null ? 'in the table' : `${best.jobs} jobs`]]);
  };
  root.onmouseleave = () => { mark.setAttribute('visibility', 'hidden'); hide_tip(); };
};

// ---- controls ----
for (const s of played) {
  add_box('series', s.full_label, line_sample(s.stroke), shown => { s.hidden = !shown; draw_progress(); });
}
if (trials.length) {
  for (const m of [...new Set(trials.map(t => t.m))].sort((a, b) => a - b)) {
    at('bundled').append(html('option', {value: m}, jobs_per_round(m)));
  }
  // That of the fastest row.
  const fastest = schemes.reduce((best, s) => s.seconds < best.seconds ? s : best, schemes[0]);
  if (trials.some(t => t.m === fastest?.m)) at('bundled').value = fastest.m;
  at('bundled').onchange = draw_scatter;
  for (const name of kinds.filter(kind => trials.some(t => t.name === kind))) {
    add_box('kinds', name, dot_sample(`fill:${colour_of(name)}`), shown => {
      shown ? hidden_kinds.delete(name) : hidden_kinds.add(name);
      draw_scatter();
    });
  }
} else {
  at('search').remove();
}

keep_drawn(() => {
  if (!schemes.length) return;
  draw_bars();
  draw_progress();
  if (trials.length) draw_scatter();
  draw_heat();
}, 'bars');
