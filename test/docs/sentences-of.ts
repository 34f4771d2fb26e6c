/** A text that people read, and where it begins in its file. */
interface Piece {
  readonly start: number;
  readonly text: string;
}

/** Marks at the beginning of a line of a comment, or of an item of a list. */
const marks = /^[ \t]*(?:\/\*\*?|\*\/|\*(?!\*)|\/\/|--|#+)?[ \t]*(?:[-*] |\d+\. )?/;
/** Names in backticks, and those of parameters. */
const code = /`[^`\n]*`|(?<=@param )\w+/g;
/** Comments that have their lines to themselves, and those behind code. */
const blockComment = /(?<=^[ \t]*|\s)\/\*\*?[ \n][\s\S]*?\*\//gm;
const lineComments = /(?<=^[ \t]*|\s)\/\/ .*(?:\n[ \t]*\/\/ .*)*/gm;

function found(text: string, pattern: RegExp, group = 0): Piece[] {
  return [...text.matchAll(pattern)].map((match) => ({
    start: match.index + match[0].indexOf(match[group] ?? ''),
    text: match[group] ?? '',
  }));
}

/** Comments, and the texts of literals. Comments become blank before literals are looked for: they hold back quotes. */
function ofCode(text: string): Piece[] {
  const comments = [...found(text, blockComment), ...found(text, lineComments)];
  let others = text;
  for (const { start, text: comment } of comments)
    others = others.slice(0, start) + comment.replaceAll(/[^\n]/g, ' ') + others.slice(start + comment.length);
  const literals = [...found(others, /'((?:[^'\\\n]|\\.)*)'/g, 1), ...found(others, /`([^`]*)`/g, 1)];
  return [...comments, ...literals.filter((piece) => piece.text.includes(' ') && !isStatement(piece.text))];
}

/** SQL has no sentences. */
function isStatement(text: string): boolean {
  return /^\s*(?:with|select|insert|update|delete|create|union|from|where|and|left join)\b[^.]*[=*(]/i.test(text);
}

/** Paragraphs, items and cells of a page, without blocks of code. */
function ofPage(text: string): Piece[] {
  const prose = text.replaceAll(/^[ \t]*```[\s\S]*?^[ \t]*```/gm, (block) => block.replaceAll(/[^\n]/g, ' '));
  return found(prose, /(?:[^\n|]+(?:\n(?![ \t]*(?:[-*] |\d+\. |#|\n|\|)))?)+/g);
}

const readers: Readonly<Record<string, (text: string) => Piece[]>> = {
  ts: ofCode,
  js: ofCode,
  mjs: ofCode,
  md: ofPage,
  sql: (text) => found(text, /--.*(?:\n[ \t]*--.*)*/g),
  yaml: (text) => found(text, /[^\n]+/g),
  json: (text) => found(text, /"(?:title|summary|description)": "((?:[^"\\]|\\.)*)"/g, 1),
  graphql: (text) => [...found(text, /"""([\s\S]*?)"""/g, 1), ...found(text, /(?<!")"([^"\n]+)"(?!")/g, 1)],
};

/** The sentences of a file, by its extension: of comments, texts, descriptions or paragraphs. Names of code are left out. */
export function sentencesOf(file: string, text: string): Piece[] {
  const read = readers[file.slice(file.lastIndexOf('.') + 1)];
  if (!read) return [];
  return read(text).flatMap(({ start, text: piece }) => {
    const lines = piece.replaceAll(code, (name) => '_'.repeat(name.length)).split('\n');
    const plain = lines.map((line) => line.replace(marks, (mark) => ' '.repeat(mark.length))).join('\n');
    return found(plain, /\S(?:[^.!?]|[.!?](?!["')*]*\s))*(?:[.!?]["')*]*|$)/g).map((sentence) => ({
      start: start + sentence.start,
      text: sentence.text.replaceAll(/\s+/g, ' '),
    }));
  });
}
