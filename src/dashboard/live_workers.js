// ---- who is slow ----
const kListed = 10;
const kLow = 0.5;  // twice as slow as the reference
const score_text = score => score == null ? '-' : score.toFixed(2);
const share_text = share => `${(100 * share).toFixed(0)} %`;

at('scores-legend').append(
  html('span', {}, svg('svg', {width: 12, height: 12}, svg('rect', {class: 'score', width: 12, height: 12, rx: 2})), 'relative'),
  html('span', {}, svg('svg', {width: 12, height: 12}, svg('rect', {class: 'score low', width: 12, height: 12, rx: 2})),
       `relative, below ${kLow}`),
  html('span', {}, svg('svg', {width: 14, height: 8}, svg('path', {class: 'own', d: 'M0 4h14'})), 'individual'));

const draw_scores = () => {
  const {relative, individual, seconds: times, straggled} = store.told.workers, n = relative.length;
  const left = 44, tall = 250, height = tall + 44;
  const width = measured.width.scores;
  const root = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'scores of all workers'});
  const wide = width - left - 4, x = i => left + i * wide / n, y = score => 6 + (1 - score) * (tall - 6);
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    root.append(line(left, y(tick), left + wide, y(tick), 'grid'), text(left - 6, y(tick) + 4, tick, 'end'));
  }
  const gap = wide / n > 4 ? 1 : 0;
  const end = i => (x(i + 1) - gap).toFixed(1);
  const bar = i => `M${x(i).toFixed(1)} ${tall}V${y(relative[i]).toFixed(1)}H${end(i)}V${tall}Z`;
  const top = (i, score) => `M${x(i).toFixed(1)} ${y(score).toFixed(1)}H${end(i)}`;
  const known = relative.map((_, i) => i).filter(i => relative[i] != null);
  for (const [kind, list] of [['score', known.filter(i => relative[i] >= kLow)],
                              ['score low', known.filter(i => relative[i] < kLow)]]) {
    root.append(svg('path', {class: kind, d: list.map(bar).join('')}),
                svg('path', {class: `${kind} top`, d: list.map(i => top(i, relative[i])).join('')}));
  }
  root.append(svg('path', {class: 'own', d: known.filter(i => individual[i] != null).map(i => top(i, individual[i])).join('')}),
              line(left, tall, left + wide, tall, 'axis'));
  for (const i of ticks(0, n - 1, wide / 60, true)) root.append(text(x(i + 0.5), tall + 18, i));
  root.append(text(left + wide / 2, height - 4, 'worker'), upright(12, tall / 2, 'score'));
  root.onmousemove = event => {
    const i = Math.floor((pointer(event, root, width)[0] - left) * n / wide);
    if (i < 0 || i >= n) return hide_tip();
    show_tip(event, `worker ${i}`, [['relative score', score_text(relative[i])], ['individual score', score_text(individual[i])],
                                    ['median response', seconds(times[i])], ['straggled', share_text(straggled[i])]]);
  };
  root.onmouseleave = hide_tip;
  at('scores').replaceChildren(root);
};

const meter = score => score == null ? '-' : html('span', {},
  html('span', {class: score < kLow ? 'meter low' : 'meter'}, html('i', {style: `width:${Math.round(100 * score)}%`})),
  score_text(score));
const row = cells => html('tr', {}, ...cells.map(cell => html('td', {}, cell)));

// The slowest first; equal ones by how often they straggled.
const list_slowest = () => {
  const {relative, individual, seconds: times, straggled} = store.told.workers;
  const order = relative.map((_, i) => i).filter(i => relative[i] != null)
    .sort((a, b) => relative[a] - relative[b] || straggled[b] - straggled[a]).slice(0, kListed);
  at('slowest').tBodies[0].replaceChildren(...order.map(i =>
    row([i, meter(relative[i]), meter(individual[i]), seconds(times[i]), share_text(straggled[i])])));
};
