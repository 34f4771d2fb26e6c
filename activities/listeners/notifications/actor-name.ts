import { apiToken } from '#entities/identity/api-token.ts';
import { user } from '#entities/identity/user.ts';
import { personIn, tokenIn } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

export async function actorNameOf(actor: string, { data }: UnitOfWork): Promise<string> {
  const [userId] = personIn(actor);
  if (userId !== undefined)
    return (await data.findOne(user, { id: { eq: userId } }))?.displayName ?? 'Somebody who has left';
  const tokenId = tokenIn(actor);
  const token = tokenId === null ? undefined : await data.findOne(apiToken, { id: { eq: tokenId } });
  if (token) return `The API token “${token.name}”`;
  return tokenId === null ? 'The server' : 'A deleted API token';
}
