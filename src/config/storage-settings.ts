import { isForbiddenHost } from '../base/addresses.ts';
import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { parseDuration } from '../time/time.ts';
import { choiceParser, type Parse, parseBoolean, parseText } from '../yaml/index.ts';
import { parseUrl } from './values.ts';

/** A place in an object store: `s3://bucket/prefix`. */
export interface Destination {
  readonly bucket: string;
  /** Without a slash at either end; empty for the whole bucket. */
  readonly prefix: string;
  /** As people write it: `s3://bucket/prefix`. */
  readonly url: string;
}

/** How object stores are reached. Credentials are not among the settings: they come from the AWS standard chain. */
export interface StorageSettings {
  /** The address of an S3-compatible store; undefined for AWS. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** Whether the bucket is in the path; by default only with an endpoint. */
  readonly pathStyle: boolean | undefined;
  readonly serverSideEncryption: 'AES256' | 'aws:kms' | undefined;
  readonly kmsKeyId: string | undefined;
  /** How long a request may take without progress. */
  readonly timeoutMs: number; // 30 s
}

const defaultStorageTimeoutMs = 30_000;

/** Whether a text names a place in an object store, right or wrong. */
export function isStoreAddress(text: string): boolean {
  return /^s3:\/\//i.test(text);
}

/** Reads `s3://bucket/prefix`. */
export const parseDestination: Parse<Destination> = (value) => {
  const text = parseText(value, 1024);
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? [];
  if (/^s3:\/\/[^/]*[:@]/.test(text)) {
    // The value is never quoted: it may contain a secret.
    throw new UsageError(
      'found credentials or a port before the first slash, expected s3://bucket/prefix; credentials come from the AWS ' +
        'standard chain, and the address of another store is storage.endpoint',
    );
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new UsageError(`found ${quoted(text)}, expected the name of a bucket, such as s3://finance/costs`);
  }
  const prefix = path.replace(/\/+$/, '');
  const parts = prefix.split('/');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (prefix !== '' && (parts.some((part) => ['', '.', '..'].includes(part)) || /[\0-\x1f\x7f?#\\]/.test(prefix))) {
    throw new UsageError(
      `found ${quoted(text)}, expected a prefix of plain names with one slash between them, such as s3://finance/costs`,
    );
  }
  return { bucket, prefix, url: prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}` };
};

/** The address of an object store. */
export const parseEndpoint: Parse<string> = (value) => {
  const address = parseUrl(value);
  const { hostname } = new URL(address);
  if (isForbiddenHost(hostname)) {
    throw new UsageError(
      `found ${hostname}, which is a reserved address or a metadata service that hands out credentials, expected the address of an object store`,
    );
  }
  return address;
};

/** A time limit of one request, from a second to an hour. */
const parseStorageTimeout: Parse<number> = (value) => {
  const text = parseText(value, 20);
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1000 && ms <= 3_600_000) return ms;
  throw new UsageError(`found ${quoted(text)}, expected a time such as 30s, from 1s to 1h`);
};

const parseRegion: Parse<string> = (value) => {
  const text = parseText(value, 60);
  if (/^[a-z0-9][a-z0-9-]*$/.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected a region such as eu-central-1`);
};

const parseKmsKey: Parse<string> = (value) => {
  const text = parseText(value, 500);
  if (/^[A-Za-z0-9:/_-]+$/.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected the ID, the ARN or the alias of a key`);
};

type StorageKey = 'endpoint' | 'region' | 'pathStyle' | 'serverSideEncryption' | 'kmsKeyId' | 'timeout';

/** Reads the keys of `storage`. */
export function readStorage(
  setting: <T>(key: `storage.${StorageKey}`, parse: Parse<T>) => T | undefined,
): StorageSettings {
  return {
    endpoint: setting('storage.endpoint', parseEndpoint),
    region: setting('storage.region', parseRegion),
    pathStyle: setting('storage.pathStyle', parseBoolean),
    serverSideEncryption: setting('storage.serverSideEncryption', choiceParser(['AES256', 'aws:kms'])),
    kmsKeyId: setting('storage.kmsKeyId', parseKmsKey),
    timeoutMs: setting('storage.timeout', parseStorageTimeout) ?? defaultStorageTimeoutMs,
  };
}

/** The folder that `--out` names; none for a store: its files are written to the project's exports first. */
export function folderOf(out: string | undefined): string | undefined {
  return out === undefined || isStoreAddress(out) ? undefined : out;
}
