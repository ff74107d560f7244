// ---- what the server has told so far ----
// Columns of one or several rounds each, as include/paceline/live_state.hpp says, and the newest rounds one by one. A
// column that was not full is told again; where the server has joined columns, all are told anew.
const kNewest = 128;
const kAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const value_of = new Uint8Array(128);
[...kAlphabet].forEach((c, i) => { value_of[c.charCodeAt(0)] = i; });

const kLevels = 4096;
// The response time of a cell's level; level 0 is no answer.
const time_of = level => 1e-6 * 10 ** ((level - 1) / (kLevels - 2) * 11);

const kSeries = ['round', 'rounds', 'seconds', 'stragglers', 'closed', 'jobs', 'slowest', 'limit'];
const empty_columns = models => {
  const columns = {cells: [], loss: Array.from({length: models}, () => [])};
  for (const name of kSeries) columns[name] = [];
  return columns;
};

// Three characters a cell: level, and the share of its rounds that the worker straggled, 0 ... 63.
const cells_of = (text, workers) => {
  const list = [];
  for (let at = 0; at < text.length;) {
    const level = new Uint16Array(workers), share = new Uint8Array(workers);
    for (let i = 0; i < workers; ++i, at += 3) {
      level[i] = 64 * value_of[text.charCodeAt(at)] + value_of[text.charCodeAt(at + 1)];
      share[i] = value_of[text.charCodeAt(at + 2)];
    }
    list.push({level, share});
  }
  return list;
};

// Replaces the columns from `first` on.
const put_columns = (columns, first, told, workers) => {
  for (const name of kSeries) columns[name].splice(first, Infinity, ...told[name]);
  columns.loss.forEach((loss, m) => loss.splice(first, Infinity, ...(told.loss[m] ?? [])));
  columns.cells.splice(first, Infinity, ...cells_of(told.cells, workers));
};

const store = {told: null, columns: empty_columns(0), newest: empty_columns(0)};
const take = told => {
  const workers = told.run.workers;
  if (told.anew) {
    store.columns = empty_columns(told.run.models.length);
    store.newest = empty_columns(0);
  }
  put_columns(store.columns, told.firstColumn, told.columns, workers);
  put_columns(store.newest, store.newest.round.length, told.newest, workers);
  const old = store.newest.round.length - kNewest;
  if (old > 0) for (const list of Object.values(store.newest)) list.splice(0, old);
  delete told.columns;
  delete told.newest;
  store.told = told;
};
// Widths and colours, read before anything is drawn: to read them in between would lay the page out again each time.
let measured = {};
const measure = () => {
  measured = {width: {}, colour: {}};
  for (const id of ['heat', 'scores', 'loss', 'won']) measured.width[id] = Math.max(280, at(id).clientWidth);
  const style = getComputedStyle(document.documentElement);
  for (const name of ['ink', 'soft', 'line', 'grid', 'card', 'idle', 'straggler', ...Array.from({length: 9}, (_, i) => `c${i}`)]) {
    measured.colour[name] = style.getPropertyValue(`--${name}`).trim();
  }
};

// How the server is asked for what is new.
const question = () => {
  if (!store.told) return 'state';
  const {run, scheme, now, stride} = store.told;
  return `state?run=${encodeURIComponent(run.id)}&scheme=${scheme.number}&since=${now.rounds}&stride=${stride}`;
};
const redraw = draw => {
  if (!store.told) return;
  measure();
  return draw();
};
