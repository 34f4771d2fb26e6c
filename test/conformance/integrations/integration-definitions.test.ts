import { describe, expect, test } from 'vitest';
import { integrationDefinitions } from '#activities/clients/integrations/definitions.ts';
import { openEvaluator } from '../../activities/cel/opened-evaluator.ts';
import { mappingEnvironment } from '../../kit/integrations/mapped-records.ts';

const evaluator = openEvaluator();

describe.each(integrationDefinitions.map((definition) => [definition.id, definition] as const))(
  '%s',
  (_id, definition) => {
    test('has expressions that compile with the defaults of the configuration', async () => {
      for (const { kind, variant = '', mapExpr, filterExpr } of definition.mappings) {
        const map = { expression: mapExpr, environment: mappingEnvironment, expected: 'map<string, dyn>' };
        expect((await evaluator.compile(map)).problems, `mapping of ${kind} ${variant}`).toEqual([]);
        if (filterExpr === undefined) continue;
        const filter = { expression: filterExpr, environment: mappingEnvironment, expected: 'bool' };
        expect((await evaluator.compile(filter)).problems, `filter of ${kind} ${variant}`).toEqual([]);
      }
    });

    test('accepts no settings, credentials or inputs that it does not name', () => {
      const schemas = [
        definition.userInput,
        ...definition.connections.flatMap(({ credential }) => credential ?? []),
        ...definition.operations.map(({ input }) => input),
      ];
      for (const schema of schemas) expect(schema).toHaveProperty('additionalProperties', false);
    });

    test('has a picture that is small and runs and loads nothing', () => {
      expect(definition.logo).toMatch(
        /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="[^"]+"[^>]*>.*<\/svg>$/s,
      );
      expect(definition.logo.length).toBeLessThan(4_000);
      expect(definition.logo.replace('http://www.w3.org/2000/svg', '')).not.toMatch(
        /<script|<foreignObject|<image|<use|\son\w+=|href|url\(|https?:|<style|<!/i,
      );
    });
  },
);
