import { routesOf } from '#api/rest/routes.ts';
import { registry } from '#entities/index.ts';
import { compareText } from '#entities/kit/base/compare-text.ts';
import { offeredScopes, type TokenSort } from '#entities/kit/model/scopes.ts';

/** The reference page of tokens: which scopes they have, and what no scope gives. */
export function printTokens(): string {
  const closed = routesOf(registry)
    .filter(({ access, acceptsTokens }) => access === 'required' && !acceptsTokens)
    .map(({ method, url, summary }) => `| \`${method} ${url}\` | ${summary} |`);
  return [
    '# Tokens',
    '',
    'Rights of API tokens and personal tokens, and their limits. Printed from the kinds and the routes by `npm run derive`.',
    '',
    '## Scopes',
    '',
    '| Kind | API tokens | Personal tokens |',
    '| --- | --- | --- |',
    ...registry.modules.flatMap(({ topic }) => {
      const verbs = (['api', 'personal'] as const).map((sort) => verbsOf(topic, sort));
      return verbs.every((verb) => verb === '') ? [] : [`| \`${topic}\` | ${verbs.join(' | ')} |`];
    }),
    '',
    '## Operations that no token can do',
    '',
    'These routes, and the mutations that do the same, answer `permission_denied` to every token:',
    '',
    '| Route | Effect |',
    '| --- | --- |',
    ...closed.toSorted(compareText),
    '',
  ].join('\n');
}

function verbsOf(topic: string, sort: TokenSort): string {
  const own = offeredScopes(registry, sort).filter((scope) => scope.startsWith(`${topic}:`));
  return own.map((scope) => `\`${scope}\``).join(', ');
}
