import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.ts';

/** `npm run histories`: the recording runs like a test file, on real parts. */
export default defineConfig({
  ...suite,
  test: { ...suite.test, include: ['test/histories/record.ts'], reporters: ['default'] },
});
