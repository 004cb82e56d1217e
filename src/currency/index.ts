export { readRates } from './rates-file.ts';
export {
  areOld,
  type CurrencyOfMonth,
  converted,
  convertedAmount,
  convertedWords,
  currencyOfMonth,
  type MonthRate,
  noRate,
  oldAfterDays,
  rateAtClose,
  rateWords,
  type SecondCurrency,
  secondCurrencyOf,
  withoutRateWords,
} from './second-currency.ts';
