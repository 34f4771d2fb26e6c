import { AppError } from '#entities/kit/base/errors.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';

/** Which piece of a list is asked for. */
export interface SliceArguments {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
}

/** Records of a page when nobody says how many, unless the largest page is smaller. */
const defaultPage = 25;

/** The same for those who ask. */
export const usualSize = `${defaultPage}, or as many as a page may have where that is less,`;

/**
 * @param largestPage `server.maxresultlimit`
 * @throws AppError limit_exceeded, invalid_input
 */
export function pageSlice(
  { first, last, after, before }: SliceArguments,
  largestPage: number,
): Pick<PageSelection, 'size' | 'from' | 'after' | 'before'> {
  if (first != null && last != null)
    throw new AppError('invalid_input', 'Ask for the first or for the last records, not for both.', {
      details: { fields: [{ path: '/last', message: 'cannot stand beside first' }] },
    });
  const size = first ?? last ?? Math.min(defaultPage, largestPage);
  const from = last == null ? 'first' : 'last';
  if (size < 0 || size > largestPage)
    throw new AppError('limit_exceeded', `${from} must be between 0 and ${largestPage}; it is ${size}.`, {
      details: { fields: [{ path: `/${from}`, message: `must be between 0 and ${largestPage}` }] },
    });
  return { size, from, ...(after == null ? {} : { after }), ...(before == null ? {} : { before }) };
}
