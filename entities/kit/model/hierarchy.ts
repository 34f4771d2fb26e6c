/**
 * The most levels of a hierarchy, root and leaves included. Deeper records are rejected, so that checks of inherited rights stay
 * below the resolution depth of the authorization store, which is 25.
 */
export const maxHierarchyDepth = 20;
