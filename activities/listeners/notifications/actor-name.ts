import { apiToken } from '#entities/identity/api-token.ts';
import { user } from '#entities/identity/user.ts';
import { personIn } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

const tokenPattern = /^api_token:(\S+)/;

export async function actorNameOf(actor: string, { data }: UnitOfWork): Promise<string> {
  const [userId] = personIn(actor);
  if (userId !== undefined)
    return (await data.findOne(user, { id: { eq: userId } }))?.displayName ?? 'Somebody who has left';
  const [, tokenId] = tokenPattern.exec(actor) ?? [];
  const token = tokenId === undefined ? undefined : await data.findOne(apiToken, { id: { eq: tokenId } });
  if (token) return `The API token “${token.name}”`;
  return tokenId === undefined ? 'The server' : 'A deleted API token';
}
