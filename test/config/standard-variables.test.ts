import { describe, expect, test } from 'vitest';
import {
  readCertificateAuthority,
  readEmailProviders,
  readIntegrationProviders,
  readPaymentProvider,
  readTelemetryEnvironment,
  readTemporalEnvironment,
} from '#config/reading/standard-variables.ts';

describe('readTelemetryEnvironment', () => {
  test('refuses what is no URL', () => {
    expect(() => readTelemetryEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toThrow(
      'OTEL_EXPORTER_OTLP_ENDPOINT: does not start with http:// or https://; write it like http://127.0.0.1:4318',
    );
  });

  test('gives the endpoint, or nothing', () => {
    expect(readTelemetryEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' })).toEqual({
      otlpEndpoint: 'http://collector:4318',
    });
    expect(readTelemetryEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toEqual({});
    expect(readTelemetryEnvironment({})).toEqual({});
  });
});

test('readCertificateAuthority gives the public authority or another one, and refuses half of an account', () => {
  const url = 'https://acme.example/directory';
  expect(readCertificateAuthority({})).toEqual({ directoryUrl: 'https://acme-v02.api.letsencrypt.org/directory' });
  expect(readCertificateAuthority({ ACME_DIRECTORY_URL: url, ACME_EAB_KID: 'k', ACME_EAB_HMAC_KEY: 'aGk' })).toEqual({
    directoryUrl: url,
    externalAccount: { keyId: 'k', hmacKey: 'aGk' },
  });
  const refusals = [
    [{ ACME_DIRECTORY_URL: 'http://acme.example/directory' }, 'ACME_DIRECTORY_URL: is not a URL with https'],
    [{ ACME_EAB_KID: 'k' }, 'ACME_EAB_KID: is set, but ACME_EAB_HMAC_KEY is not; set both or neither'],
    [{ ACME_EAB_HMAC_KEY: 'aGk' }, 'ACME_EAB_HMAC_KEY: is set, but ACME_EAB_KID is not; set both or neither'],
    [{ ACME_EAB_KID: 'k', ACME_EAB_HMAC_KEY: 'a secret' }, 'ACME_EAB_HMAC_KEY: is not base64url'],
  ] as const;
  for (const [environment, message] of refusals) {
    expect(() => readCertificateAuthority(environment)).toThrow(message);
    expect(() => readCertificateAuthority(environment)).not.toThrow('a secret');
  }
});

test('readEmailProviders gives what is set, and refuses what is no URL or no number', () => {
  expect(readEmailProviders({})).toEqual({ urls: {} });
  const url = 'http://127.0.0.1:9';
  expect(readEmailProviders({ EMAIL_PROVIDERA_URL: url, EMAIL_PROVIDERB_URL: '' })).toEqual({
    urls: { providera: url },
  });
  expect(readEmailProviders({ EMAIL_PROVIDER_ASK_AFTER_MS: '1000' })).toEqual({ urls: {}, askAfterMs: 1_000 });
  expect(() => readEmailProviders({ EMAIL_PROVIDERB_URL: 'localhost' })).toThrow('EMAIL_PROVIDERB_URL');
  expect(() => readEmailProviders({ EMAIL_PROVIDER_ASK_AFTER_MS: 'soon' })).toThrow('EMAIL_PROVIDER_ASK_AFTER_MS');
});

test('readPaymentProvider gives a URL, and refuses what is none', () => {
  expect(readPaymentProvider({})).toEqual({});
  expect(readPaymentProvider({ PAYMENT_PROVIDER_URL: 'http://127.0.0.1:9' })).toEqual({ url: 'http://127.0.0.1:9' });
  expect(() => readPaymentProvider({ PAYMENT_PROVIDER_URL: 'localhost' })).toThrow('PAYMENT_PROVIDER_URL');
});

test('readIntegrationProviders gives URLs by usual ones, and refuses what is none', () => {
  expect(readIntegrationProviders({})).toEqual({});
  const given = 'https://slack.com=http://127.0.0.1:9,https://graph.microsoft.com=http://127.0.0.1:10';
  const urls = { 'https://slack.com': 'http://127.0.0.1:9', 'https://graph.microsoft.com': 'http://127.0.0.1:10' };
  expect(readIntegrationProviders({ INTEGRATION_PROVIDER_URLS: given })).toEqual({ urls });
  expect(() => readIntegrationProviders({ INTEGRATION_PROVIDER_URLS: 'https://slack.com' })).toThrow(
    'INTEGRATION_PROVIDER_URLS',
  );
});

describe('readTemporalEnvironment', () => {
  test('refuses half of a client certificate', () => {
    expect(() => readTemporalEnvironment({ TEMPORAL_TLS_CLIENT_CERT_PATH: 'a.pem' })).toThrow(
      'TEMPORAL_TLS_CLIENT_CERT_PATH: is set, but TEMPORAL_TLS_CLIENT_KEY_PATH is not; set both or neither',
    );
    expect(() => readTemporalEnvironment({ TEMPORAL_TLS_CLIENT_KEY_PATH: 'a.pem' })).toThrow(
      'TEMPORAL_TLS_CLIENT_KEY_PATH: is set',
    );
  });

  test('gives what is set', () => {
    expect(readTemporalEnvironment({ TEMPORAL_API_KEY: '' })).toEqual({});
    const all = {
      TEMPORAL_API_KEY: 'k',
      TEMPORAL_TLS_CLIENT_CERT_PATH: 'c.pem',
      TEMPORAL_TLS_CLIENT_KEY_PATH: 'k.pem',
      TEMPORAL_TLS_SERVER_NAME: 'n',
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: 'ca.pem',
    };
    expect(readTemporalEnvironment(all)).toEqual({
      apiKey: 'k',
      tlsCertFile: 'c.pem',
      tlsKeyFile: 'k.pem',
      tlsServerName: 'n',
      tlsCaFile: 'ca.pem',
    });
  });
});
