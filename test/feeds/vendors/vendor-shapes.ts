/** An option of a chain, with the texts of its cells in Zomma's own table. */
export interface ShapedOption {
  readonly symbol: string;
  readonly root: string;
  readonly ticker: string;
  readonly expiry: string;
  readonly side: 'C' | 'P';
  readonly strike: string;
  readonly bid: string;
  readonly ask: string;
  readonly last: string;
  readonly volume: string;
  readonly oi: string;
  readonly iv: string;
  readonly delta: string;
  readonly gamma: string;
}

export interface ShapedChain {
  readonly ticker: string;
  /** New York date of the quotes. */
  readonly date: string;
  readonly spot: string;
  readonly options: readonly ShapedOption[];
}

export interface VendorShape {
  readonly vendor: string;
  /** The name of the file, if it matters. */
  readonly file?: string;
  /** What the file lacks, so that the chain lacks it too. */
  readonly lacks?: readonly ('spot' | 'openInterest' | 'last' | 'volume' | 'iv' | 'delta' | 'gamma')[];
  /** The time of day of the quotes in New York, if it is not the close. */
  readonly time?: string;
  write(chain: ShapedChain): string;
}

const us = (date: string) => `${date.slice(5, 7)}/${date.slice(8)}/${date.slice(0, 4)}`;
const short = (date: string) => `${Number(date.slice(5, 7))}/${Number(date.slice(8))}/${date.slice(0, 4)}`;
const epoch = (date: string, time = '16:00') =>
  Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime('America/New_York').epochMilliseconds;
const type = (side: 'C' | 'P') => (side === 'C' ? 'call' : 'put');
const padded = ({ root, symbol }: ShapedOption) => root.padEnd(6) + symbol.slice(root.length);

/** Writes a table with a header and a row for each option. */
function table(header: string, chain: ShapedChain, row: (option: ShapedOption) => readonly unknown[]): string {
  return `${[header, ...chain.options.map((option) => row(option).join(','))].join('\n')}\n`;
}

/** Writes a table with a row for the call and the put of each strike. */
function wideTable(
  header: string,
  chain: ShapedChain,
  row: (strike: ShapedOption, call: ShapedOption | undefined, put: ShapedOption | undefined) => readonly unknown[],
): string {
  const strikes = Map.groupBy(chain.options, ({ root, expiry, strike }) => `${root} ${expiry} ${strike}`);
  const rows = [...strikes.values()].map((both) =>
    row(both[0]!, ...([both.find(({ side }) => side === 'C'), both.find(({ side }) => side === 'P')] as const)).join(
      ',',
    ),
  );
  return `${[header, ...rows].join('\n')}\n`;
}

const OPTIONSDX =
  '[QUOTE_UNIXTIME], [QUOTE_READTIME], [QUOTE_DATE], [QUOTE_TIME_HOURS], [UNDERLYING_LAST], [EXPIRE_DATE], [EXPIRE_UNIX], [DTE], [C_DELTA], [C_GAMMA], [C_VEGA], [C_THETA], [C_RHO], [C_IV], [C_VOLUME], [C_LAST], [C_SIZE], [C_BID], [C_ASK], [STRIKE], [P_BID], [P_ASK], [P_SIZE], [P_LAST], [P_DELTA], [P_GAMMA], [P_VEGA], [P_THETA], [P_RHO], [P_IV], [P_VOLUME], [STRIKE_DISTANCE], [STRIKE_DISTANCE_PCT]';
const ORATS =
  'ticker,tradeDate,expirDate,dte,strike,stockPrice,callVolume,callOpenInterest,callBidSize,callAskSize,putVolume,putOpenInterest,putBidSize,putAskSize,callBidPrice,callValue,callAskPrice,putBidPrice,putValue,putAskPrice,callBidIv,callMidIv,callAskIv,smvVol,putBidIv,putMidIv,putAskIv,residualRate,delta,gamma,theta,vega,rho,phi,driftlessTheta,callSmvVol,putSmvVol,extSmvVol,extCallValue,extPutValue,spotPrice,quoteDate,updatedAt,snapShotEstTime,snapShotDate,expiryTod';
const DATASHOP =
  'underlying_symbol,quote_date,root,expiration,strike,option_type,open,high,low,close,trade_volume,bid_size_1545,bid_1545,ask_size_1545,ask_1545,underlying_bid_1545,underlying_ask_1545,implied_underlying_price_1545,active_underlying_price_1545,implied_volatility_1545,delta_1545,gamma_1545,theta_1545,vega_1545,rho_1545,bid_size_eod,bid_eod,ask_size_eod,ask_eod,underlying_bid_eod,underlying_ask_eod,vwap,open_interest,delivery_code';

export const VENDOR_SHAPES: readonly VendorShape[] = [
  {
    vendor: 'HistoricalOptionData',
    lacks: [],
    write: (chain) =>
      table(
        'underlying,underlying_last, exchange,optionroot,optionext,type,expiration,quotedate,strike,last,bid,ask,volume,openinterest,impliedvol,delta,gamma,theta,vega,optionalias',
        chain,
        (o) => [
          ...[o.ticker, chain.spot, '*', o.symbol, '', type(o.side), us(o.expiry), us(chain.date), o.strike, o.last],
          ...[o.bid, o.ask, o.volume, o.oi, o.iv, o.delta, o.gamma, 0, 0, o.symbol],
        ],
      ),
  },
  {
    vendor: 'DeltaNeutral, level 3',
    write: (chain) =>
      table(
        'UnderlyingSymbol,UnderlyingPrice,Exchange,OptionSymbol,OptionExt,Type,Expiration,DataDate,Strike,Last,Bid,Ask,Volume,OpenInterest,IV,Delta,Gamma,Theta,Vega,Alias',
        chain,
        (o) => [
          ...[o.ticker, chain.spot, '*', o.symbol, '', type(o.side), us(o.expiry), us(chain.date), o.strike, o.last],
          ...[o.bid, o.ask, o.volume, o.oi, o.iv, o.delta, o.gamma, 0, 0, o.symbol],
        ],
      ),
  },
  {
    vendor: 'iVolatility',
    lacks: ['last'],
    write: (chain) =>
      table(
        'symbol,exchange,company_name,date,stock_price_close,option_symbol,option_expiration,strike,call/put,style,ask,bid,mean_price,settlement,iv,volume,open_interest,stock_price_for_iv,forward_price,isinterpolated,delta,vega,gamma,theta,rho',
        chain,
        (o) => [
          ...[
            o.ticker,
            'NASDAQ',
            'A COMPANY',
            short(chain.date),
            chain.spot,
            padded(o),
            short(o.expiry),
            o.strike,
            o.side,
          ],
          ...['A', o.ask, o.bid, 0, 0, o.iv, o.volume, o.oi, chain.spot, '', '', o.delta, 0, o.gamma, 0, 0],
        ],
      ),
  },
  {
    vendor: 'Cboe DataShop, end of day',
    write: (chain) =>
      table(DATASHOP, chain, (o) => [
        ...[
          `^${o.ticker}`,
          chain.date,
          o.root,
          o.expiry,
          o.strike,
          o.side,
          0,
          0,
          0,
          o.last,
          o.volume,
          1,
          0,
          1,
          0,
          0,
          0,
          0,
          0,
        ],
        ...[o.iv, o.delta, o.gamma, 0, 0, 0, 1, o.bid, 1, o.ask, chain.spot, chain.spot, 0, o.oi, ''],
      ]),
  },
  {
    vendor: 'Cboe DataShop, 15:45 alone',
    time: '15:45',
    write: (chain) =>
      table(
        '"underlying_symbol","quote_date","root","expiration","strike","option_type","open","high","low","close","trade_volume","bid_size_1545","bid_1545","ask_size_1545","ask_1545","underlying_bid_1545","underlying_ask_1545","active_underlying_price_1545","implied_volatility_1545","delta_1545","gamma_1545","theta_1545","vega_1545","rho_1545","open_interest"',
        chain,
        (o) => [
          ...[`"^${o.ticker}"`, `${short(chain.date)} 0:00:00`, `"${o.root}"`, `${short(o.expiry)} 0:00:00`, o.strike],
          ...[`"${o.side.toLowerCase()}"`, 0, 0, 0, o.last, o.volume, 1, o.bid, 1, o.ask, chain.spot, chain.spot, 0],
          ...[o.iv, o.delta, o.gamma, 0, 0, 0, o.oi],
        ],
      ),
  },
  {
    vendor: 'ORATS',
    lacks: ['last', 'delta', 'gamma'],
    write: (chain) =>
      wideTable(ORATS, chain, (s, c, p) => [
        ...[s.ticker, chain.date, s.expiry, 30, s.strike, chain.spot, c?.volume, c?.oi, 1, 1, p?.volume, p?.oi, 1, 1],
        ...[c?.bid, 0, c?.ask, p?.bid, 0, p?.ask, 0, c?.iv, 0, 0, 0, p?.iv, 0, 0, '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ...[chain.spot, chain.date, `${chain.date}T20:15:00Z`, '16:00', chain.date, 'pm'],
      ]),
  },
  {
    vendor: 'OptionsDX',
    file: 'xlf_eod_202608.txt',
    lacks: ['openInterest'],
    write: (chain) =>
      wideTable(OPTIONSDX, chain, (s, c, p) => [
        ...[
          epoch(chain.date) / 1000,
          `${chain.date} 16:00`,
          chain.date,
          16,
          chain.spot,
          s.expiry,
          0,
          7,
          c?.delta,
          c?.gamma,
        ],
        ...[0, 0, 0, c?.iv, c?.volume, c?.last, '1 x 1', c?.bid, c?.ask, s.strike, p?.bid, p?.ask, '1 x 1', p?.last],
        ...[p?.delta, p?.gamma, 0, 0, 0, p?.iv, p?.volume, 0, 0],
      ]),
  },
  {
    vendor: 'yfinance',
    file: 'chain-DATE.csv',
    lacks: ['spot', 'delta', 'gamma'],
    write: (chain) =>
      table(
        ',contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,change,percentChange,volume,openInterest,impliedVolatility,inTheMoney,contractSize,currency',
        chain,
        (o) => [
          ...['0', o.symbol, `${chain.date} 19:59:58+00:00`, o.strike, o.last, o.bid, o.ask, 0, 0, o.volume, o.oi],
          ...[o.iv, 'False', 'REGULAR', 'USD'],
        ],
      ),
  },
  {
    vendor: 'Alpha Vantage',
    lacks: ['spot'],
    write: (chain) =>
      table(
        'contractID,symbol,expiration,strike,type,last,mark,bid,bid_size,ask,ask_size,volume,open_interest,date,implied_volatility,delta,gamma,theta,vega,rho',
        chain,
        (o) => [
          ...[o.symbol, o.ticker, o.expiry, o.strike, type(o.side), o.last, 0, o.bid, 1, o.ask, 1, o.volume, o.oi],
          ...[chain.date, o.iv, o.delta, o.gamma, 0, 0, 0],
        ],
      ),
  },
  {
    vendor: 'Barchart',
    file: 'chain-DATE.csv',
    lacks: ['last'],
    write: (chain) =>
      table(
        'Symbol,Price~,Type,Exp Date,Strike,Bid,Ask,Volume,Open Int,IV,Delta,Gamma,Theta,Vega,ITM Prob,Time',
        chain,
        (o) => [
          ...[
            o.ticker,
            chain.spot,
            o.side === 'C' ? 'Call' : 'Put',
            us(o.expiry),
            o.strike,
            o.bid,
            o.ask,
            o.volume,
            o.oi,
          ],
          ...[o.iv, o.delta, o.gamma, 0, 0, '50%', '08/21/26'],
        ],
      ),
  },
  {
    vendor: 'Massive, chain snapshot',
    write: (chain) =>
      JSON.stringify({
        request_id: '1',
        status: 'OK',
        results: chain.options.map((o) => ({
          details: {
            ticker: `O:${o.symbol}`,
            contract_type: type(o.side),
            expiration_date: o.expiry,
            shares_per_contract: 100,
          },
          day: { volume: number(o.volume) },
          greeks: { delta: number(o.delta), gamma: number(o.gamma) },
          implied_volatility: number(o.iv),
          open_interest: number(o.oi),
          last_quote: { bid: number(o.bid), ask: number(o.ask), last_updated: epoch(chain.date, '15:59') * 1e6 },
          last_trade: { price: number(o.last) },
          underlying_asset: { ticker: chain.ticker, price: number(chain.spot), last_updated: epoch(chain.date) * 1e6 },
        })),
      }),
    time: '15:59',
  },
  {
    vendor: 'Tradier, option chain',
    lacks: ['spot'],
    write: (chain) =>
      JSON.stringify({
        options: {
          option: chain.options.map((o) => ({
            ...{ symbol: o.symbol, root_symbol: o.root, underlying: chain.ticker, strike: number(o.strike) },
            ...{ option_type: type(o.side), expiration_date: o.expiry, bid: number(o.bid), ask: number(o.ask) },
            ...{ last: number(o.last), volume: number(o.volume), open_interest: number(o.oi), contract_size: 100 },
            ...{ bid_date: epoch(chain.date), ask_date: epoch(chain.date, '15:58') },
            greeks: { mid_iv: number(o.iv), delta: number(o.delta), gamma: number(o.gamma) },
          })),
        },
      }),
  },
  {
    vendor: 'Schwab, option chain',
    write: (chain) => {
      const map = (side: 'C' | 'P') => {
        const expiries: Record<string, Record<string, object[]>> = {};
        for (const o of chain.options.filter((each) => each.side === side)) {
          const strikes = expiries[`${o.expiry}:7`] ?? {};
          expiries[`${o.expiry}:7`] = strikes;
          const contract = {
            ...{ putCall: side === 'C' ? 'CALL' : 'PUT', symbol: padded(o), bid: number(o.bid), ask: number(o.ask) },
            ...{ last: number(o.last), totalVolume: number(o.volume), openInterest: number(o.oi) },
            ...{ volatility: percent(o.iv), delta: number(o.delta), gamma: number(o.gamma), multiplier: 100 },
            ...{ strikePrice: number(o.strike), expirationDate: `${o.expiry}T20:00:00.000+00:00` },
            ...{ quoteTimeInLong: epoch(chain.date, '15:59'), tradeTimeInLong: epoch(chain.date, '10:00') },
          };
          strikes[o.strike] = [...(strikes[o.strike] ?? []), contract];
        }
        return expiries;
      };
      return JSON.stringify({
        ...{ symbol: chain.ticker, status: 'SUCCESS', underlyingPrice: number(chain.spot), isDelayed: false },
        ...{ callExpDateMap: map('C'), putExpDateMap: map('P') },
      });
    },
    time: '15:59',
  },
  {
    vendor: 'Yahoo, option chain',
    lacks: ['delta', 'gamma'],
    write: (chain) => {
      const rows = (side: 'C' | 'P') =>
        chain.options
          .filter((each) => each.side === side)
          .map((o) => ({
            ...{ contractSymbol: o.symbol, strike: number(o.strike), currency: 'USD', lastPrice: number(o.last) },
            ...{ volume: number(o.volume), openInterest: number(o.oi), bid: number(o.bid), ask: number(o.ask) },
            ...{
              contractSize: 'REGULAR',
              impliedVolatility: number(o.iv),
              lastTradeDate: epoch(chain.date, '11:00') / 1000,
            },
          }));
      const quote = {
        symbol: chain.ticker,
        regularMarketPrice: number(chain.spot),
        regularMarketTime: epoch(chain.date) / 1000,
      };
      return JSON.stringify({
        optionChain: {
          result: [{ underlyingSymbol: chain.ticker, quote, options: [{ calls: rows('C'), puts: rows('P') }] }],
        },
      });
    },
  },
  {
    vendor: 'JSON Lines of records',
    write: (chain) =>
      chain.options
        .map((o) =>
          JSON.stringify({
            ...{
              underlying: chain.ticker,
              as_of: `${chain.date}T16:00:00-04:00`,
              spot: number(chain.spot),
              symbol: o.symbol,
            },
            ...{ strike: number(o.strike), bid: number(o.bid), ask: number(o.ask), last: number(o.last) },
            ...{ volume: number(o.volume), open_interest: number(o.oi), iv: number(o.iv) },
            ...{ delta: number(o.delta), gamma: number(o.gamma) },
          }),
        )
        .join('\n'),
  },
  {
    vendor: 'an unknown vendor with usual names',
    write: (chain) =>
      table(
        'Ticker;Quote Date;Underlying Price;Expiration;Right;Strike;Best Bid;Best Offer;Last;Vol;OI;Implied Volatility;Delta;Gamma'.replaceAll(
          ';',
          ',',
        ),
        chain,
        (o) => [
          ...[o.ticker, chain.date.replaceAll('-', ''), chain.spot, o.expiry.replaceAll('-', ''), `${o.side}E`],
          ...[
            `$${o.strike}`,
            o.bid,
            o.ask,
            o.last,
            o.volume,
            o.oi,
            o.iv === '' ? '' : `${percent(o.iv)}%`,
            o.delta,
            o.gamma,
          ],
        ],
      ),
  },
];

function number(text: string): number | undefined {
  return text === '' ? undefined : Number(text);
}

/** Returns a volatility in percent, whose hundredth is the same double again. */
function percent(iv: string): number | undefined {
  return iv === '' ? undefined : Number(iv) * 100;
}
