import { AppError } from '#entities/kit/base/errors.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';

/** The requested page of a list. */
export interface SliceArguments {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
}

/** Number of records of a page when the request does not say, unless the largest page is smaller. */
const defaultPage = 25;

/** The default page size, for descriptions. */
export const defaultPageSize = `${defaultPage}, or the largest page size if that is smaller`;

/**
 * @param largestPage `server.maxresultlimit`
 * @throws AppError limit_exceeded, invalid_input
 */
export function pageSlice(
  { first, last, after, before }: SliceArguments,
  largestPage: number,
): Pick<PageSelection, 'size' | 'from' | 'after' | 'before'> {
  if (first != null && last != null)
    throw new AppError('invalid_input', 'Use either first or last, not both.', {
      details: { fields: [{ path: '/last', message: 'cannot be combined with first' }] },
    });
  const size = first ?? last ?? Math.min(defaultPage, largestPage);
  const from = last == null ? 'first' : 'last';
  if (size < 0 || size > largestPage)
    throw limitExceeded(`${from} must be between 0 and ${largestPage}; it is ${size}.`, {
      path: `/${from}`,
      message: `must be between 0 and ${largestPage}; it is ${size}`,
    });
  return { size, from, ...(after == null ? {} : { after }), ...(before == null ? {} : { before }) };
}
