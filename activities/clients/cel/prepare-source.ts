import type { CelLimits, CelProblem } from './cel-contract.ts';

/** An expression as cel-js can parse it. Positions are those of the expression as written. */
export interface PreparedSource {
  readonly source: string;
  /** Names in backquotes, by the place of the backquote; the source has a plain name of the same length there. */
  readonly escaped: ReadonlyMap<number, string>;
  readonly problems: readonly CelProblem[];
}

/** A quoted text with its prefix, a comment, a name in backquotes, or a sign that a parser handles recursively. */
const tokens =
  /(?<text>[bBrR]?(?:"""|'''|"|'))|(?<comment>\/\/[^\n]*)|(?<name>`[^`\n]*`?)|(?<sign>!(?!=)|-)|(?<space>\s+)|(?<other>\w+|[^\s\w])/gy;

const escapedName = /^`[\w./ -]+`$/;

/** Checks length and signs, which the parser does not, and replaces names in backquotes, which it does not know. */
export function prepareSource(expression: string, limits: CelLimits, maxProblems: number): PreparedSource {
  const problems: CelProblem[] = [];
  const escaped = new Map<number, string>();
  const end = expression.length;
  if (isLongerThan(expression, limits.parserexpressionsizelimit)) {
    const message = `The expression is longer than ${limits.parserexpressionsizelimit} characters.`;
    return { source: '', escaped, problems: [{ code: 'expression_too_long', message, start: 0, end }] };
  }
  let source = '';
  let copied = 0;
  let signs = 0;
  tokens.lastIndex = 0;
  for (let match = tokens.exec(expression); match && problems.length < maxProblems; match = tokens.exec(expression)) {
    const { text, name, sign, other } = match.groups ?? {};
    if (text !== undefined) tokens.lastIndex = endOfText(expression, match.index, text);
    if (sign !== undefined && ++signs > limits.parserrecursionlimit) {
      const message = `More than ${limits.parserrecursionlimit} signs follow each other.`;
      return { source: '', escaped, problems: [{ code: 'nested_too_deep', message, start: match.index, end }] };
    }
    if (text !== undefined || name !== undefined || other !== undefined) signs = 0;
    if (name === undefined) continue;
    const place = { start: match.index, end: tokens.lastIndex };
    if (!limits.identifierescapesyntax)
      problems.push({ code: 'not_enabled', message: 'Names in backquotes are not enabled.', ...place });
    else if (!escapedName.test(name))
      problems.push({ code: 'syntax', message: `${name} is no name: letters, digits, ., -, / and spaces.`, ...place });
    escaped.set(match.index, name.replaceAll('`', ''));
    source += expression.slice(copied, match.index) + 'x'.repeat(name.length);
    copied = tokens.lastIndex;
  }
  return { source: source + expression.slice(copied), escaped, problems };
}

/** In code points. */
function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > limit * 2) return true;
  let count = 0;
  for (const _ of text) count++;
  return count > limit;
}

/** The place after a quoted text, as cel-js finds it; the end of the expression if the text has no end, which the parser reports. */
function endOfText(expression: string, start: number, opening: string): number {
  const quote = opening.replace(/^[bBrR]/, '');
  let at = start + opening.length;
  while (at < expression.length && !expression.startsWith(quote, at)) at += expression[at] === '\\' ? 2 : 1;
  return Math.min(at + quote.length, expression.length);
}
