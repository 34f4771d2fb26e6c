/** Characters of the longest name that PostgreSQL keeps as it is; longer ones are truncated. */
export const maxNameLength = 63;
