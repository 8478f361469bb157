//! What the values of an array are.

use crate::single;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    RunEndIndexType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use undercurve::data::{Kind, Values, days_of_nanos};

/// Nanoseconds of a day.
pub const DAY: i128 = 86_400_000_000_000;

/// The values of an array, as the core takes them.
pub enum Taken<'a> {
    Numbers(Vec<f64>),
    Whole(Vec<f64>, Vec<(u32, String)>),
    Of(Kind, Vec<f64>),
    Texts(Vec<Option<&'a str>>),
    Made(Vec<Option<String>>),
    Nothing(usize),
    Unreadable(usize, String),
}

/// The nanoseconds of a unit.
pub fn nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

fn each<T: ArrowPrimitiveType>(array: &dyn Array, of: impl Fn(T::Native) -> f64) -> Vec<f64> {
    array.as_primitive::<T>().iter().map(|x| x.map_or(f64::NAN, &of)).collect()
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array, of: impl Fn(T::Native) -> f64) -> Taken<'_> {
    Taken::Numbers(each::<T>(array, of))
}

/// Days of values in units of so many nanoseconds.
fn days<T: ArrowPrimitiveType>(array: &dyn Array, kind: Kind, unit: i128) -> Taken<'_>
where
    T::Native: Into<i64>,
{
    Taken::Of(kind, each::<T>(array, |x| days_of_nanos(i128::from(x.into()) * unit)))
}

/// Whole numbers, of which those that a float has not are kept as texts.
fn whole<T: ArrowPrimitiveType>(array: &dyn Array, of: impl Fn(T::Native) -> (f64, i128)) -> Taken<'_>
where
    T::Native: ToString,
{
    let mut exact = Vec::new();
    let values = array.as_primitive::<T>().iter().zip(0..).map(|(x, row)| {
        x.map_or(f64::NAN, |x| {
            let (y, x_exact) = of(x);
            if y as i128 != x_exact {
                exact.push((row, x.to_string()));
            }
            y
        })
    });
    let values = values.collect();
    Taken::Whole(values, exact)
}

/// The nearest number to a decimal, as of text.
fn decimal(digits: impl ToString, scale: i8) -> f64 {
    format!("{}e{}", digits.to_string(), -i32::from(scale)).parse().unwrap_or(f64::NAN)
}

/// The 16 bytes of a UUID as it is written.
fn uuid(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Texts of bytes; which row is none.
fn utf8<'a>(bytes: impl Iterator<Item = Option<&'a [u8]>>) -> Result<Vec<Option<&'a str>>, String> {
    let text = |(row, bytes): (usize, Option<&'a [u8]>)| match bytes.map(std::str::from_utf8) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(format!("bytes that are no UTF-8 text (row {})", row + 1)),
    };
    bytes.enumerate().map(text).collect()
}

impl<'a> Taken<'a> {
    pub fn of(array: &'a dyn Array, field: &Field) -> Self {
        match Self::read(array, field) {
            Ok(taken) => taken,
            Err(what) => Self::Unreadable(array.len(), what),
        }
    }

    pub fn values(&self) -> Values<'_> {
        match self {
            Self::Numbers(values) => Values::Numbers(values),
            Self::Whole(values, exact) if exact.is_empty() => Values::Numbers(values),
            Self::Whole(values, exact) => Values::Whole(values, exact),
            Self::Of(kind, values) => Values::Of(*kind, values),
            Self::Texts(texts) => Values::Texts(texts),
            Self::Made(texts) => Values::Owned(texts),
            Self::Nothing(rows) => Values::Nothing(*rows),
            Self::Unreadable(rows, what) => Values::Unreadable(*rows, what),
        }
    }

    fn read(array: &'a dyn Array, field: &Field) -> Result<Self, String> {
        let of = array.data_type();
        Ok(match of {
            DataType::Null => Self::Nothing(array.len()),
            DataType::Boolean => {
                let truths = array.as_boolean().iter().map(|x| x.map_or(f64::NAN, |x| f64::from(u8::from(x))));
                Self::Of(Kind::Truth, truths.collect())
            }
            DataType::Int8 => numbers::<Int8Type>(array, f64::from),
            DataType::Int16 => numbers::<Int16Type>(array, f64::from),
            DataType::Int32 => numbers::<Int32Type>(array, f64::from),
            DataType::Int64 => whole::<Int64Type>(array, |x| (x as f64, x.into())),
            DataType::UInt8 => numbers::<UInt8Type>(array, f64::from),
            DataType::UInt16 => numbers::<UInt16Type>(array, f64::from),
            DataType::UInt32 => numbers::<UInt32Type>(array, f64::from),
            DataType::UInt64 => whole::<UInt64Type>(array, |x| (x as f64, x.into())),
            DataType::Float16 => numbers::<Float16Type>(array, f64::from),
            DataType::Float32 => numbers::<Float32Type>(array, single),
            DataType::Float64 => numbers::<Float64Type>(array, |x| x),
            DataType::Decimal32(_, scale) => numbers::<Decimal32Type>(array, |x| decimal(x, *scale)),
            DataType::Decimal64(_, scale) => numbers::<Decimal64Type>(array, |x| decimal(x, *scale)),
            DataType::Decimal128(_, scale) => numbers::<Decimal128Type>(array, |x| decimal(x, *scale)),
            DataType::Decimal256(_, scale) => numbers::<Decimal256Type>(array, |x| decimal(x, *scale)),
            DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Time32(_)
            | DataType::Time64(_)
            | DataType::Duration(_)
            | DataType::Interval(_) => of_time(array)?,
            DataType::Utf8 => Self::Texts(array.as_string::<i32>().iter().collect()),
            DataType::LargeUtf8 => Self::Texts(array.as_string::<i64>().iter().collect()),
            DataType::Utf8View => Self::Texts(array.as_string_view().iter().collect()),
            DataType::Binary => Self::Texts(utf8(array.as_binary::<i32>().iter())?),
            DataType::LargeBinary => Self::Texts(utf8(array.as_binary::<i64>().iter())?),
            DataType::BinaryView => Self::Texts(utf8(array.as_binary_view().iter())?),
            DataType::FixedSizeBinary(16) if field.extension_type_name() == Some("arrow.uuid") => {
                Self::Made(array.as_fixed_size_binary().iter().map(|bytes| bytes.map(uuid)).collect())
            }
            DataType::FixedSizeBinary(_) => Self::Texts(utf8(array.as_fixed_size_binary().iter())?),
            DataType::Dictionary(key, _) => match key.as_ref() {
                DataType::Int8 => dictionary::<Int8Type>(array, field)?,
                DataType::Int16 => dictionary::<Int16Type>(array, field)?,
                DataType::Int32 => dictionary::<Int32Type>(array, field)?,
                DataType::Int64 => dictionary::<Int64Type>(array, field)?,
                DataType::UInt8 => dictionary::<UInt8Type>(array, field)?,
                DataType::UInt16 => dictionary::<UInt16Type>(array, field)?,
                DataType::UInt32 => dictionary::<UInt32Type>(array, field)?,
                _ => dictionary::<UInt64Type>(array, field)?,
            },
            DataType::RunEndEncoded(ends, _) => match ends.data_type() {
                DataType::Int16 => runs::<Int16Type>(array, field)?,
                DataType::Int32 => runs::<Int32Type>(array, field)?,
                _ => runs::<Int64Type>(array, field)?,
            },
            other => return Err(other.to_string()),
        })
    }

    /// The values at these places.
    fn at(self, places: impl Iterator<Item = Option<usize>>) -> Self {
        fn all<T: Clone>(values: &[T], none: &T, places: impl Iterator<Item = Option<usize>>) -> Vec<T> {
            places.map(|at| at.and_then(|at| values.get(at)).unwrap_or(none).clone()).collect()
        }
        match self {
            Self::Numbers(values) => Self::Numbers(all(&values, &f64::NAN, places)),
            Self::Whole(values, exact) => {
                let known: std::collections::HashMap<usize, String> =
                    exact.into_iter().map(|(at, text)| (at as usize, text)).collect();
                let places: Vec<Option<usize>> = places.collect();
                let text = |(row, at): (u32, &Option<usize>)| Some((row, known.get(&(*at)?)?.clone()));
                let exact = (0..).zip(&places).filter_map(text).collect();
                Self::Whole(all(&values, &f64::NAN, places.into_iter()), exact)
            }
            Self::Of(kind, values) => Self::Of(kind, all(&values, &f64::NAN, places)),
            Self::Texts(values) => Self::Texts(all(&values, &None, places)),
            Self::Made(values) => Self::Made(all(&values, &None, places)),
            Self::Nothing(_) => Self::Nothing(places.count()),
            Self::Unreadable(_, what) => Self::Unreadable(places.count(), what),
        }
    }
}

/// Moments, times of the day and lengths of time.
fn of_time(array: &dyn Array) -> Result<Taken<'_>, String> {
    Ok(match array.data_type() {
        DataType::Date32 => days::<Date32Type>(array, Kind::Date, DAY),
        DataType::Date64 => days::<Date64Type>(array, Kind::Date, nanos(TimeUnit::Millisecond)),
        DataType::Timestamp(unit, _) => {
            let size = nanos(*unit);
            match unit {
                TimeUnit::Second => days::<TimestampSecondType>(array, Kind::Date, size),
                TimeUnit::Millisecond => days::<TimestampMillisecondType>(array, Kind::Date, size),
                TimeUnit::Microsecond => days::<TimestampMicrosecondType>(array, Kind::Date, size),
                TimeUnit::Nanosecond => days::<TimestampNanosecondType>(array, Kind::Date, size),
            }
        }
        DataType::Time32(TimeUnit::Second) => days::<Time32SecondType>(array, Kind::Time, nanos(TimeUnit::Second)),
        DataType::Time32(unit) => days::<Time32MillisecondType>(array, Kind::Time, nanos(*unit)),
        DataType::Time64(TimeUnit::Nanosecond) => days::<Time64NanosecondType>(array, Kind::Time, 1),
        DataType::Time64(unit) => days::<Time64MicrosecondType>(array, Kind::Time, nanos(*unit)),
        DataType::Duration(unit) => {
            let size = nanos(*unit);
            match unit {
                TimeUnit::Second => days::<DurationSecondType>(array, Kind::Duration, size),
                TimeUnit::Millisecond => days::<DurationMillisecondType>(array, Kind::Duration, size),
                TimeUnit::Microsecond => days::<DurationMicrosecondType>(array, Kind::Duration, size),
                TimeUnit::Nanosecond => days::<DurationNanosecondType>(array, Kind::Duration, size),
            }
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let of = |x: arrow_array::types::IntervalDayTime| {
                days_of_nanos(i128::from(x.days) * DAY + i128::from(x.milliseconds) * nanos(TimeUnit::Millisecond))
            };
            Taken::Of(Kind::Duration, each::<IntervalDayTimeType>(array, of))
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let all = array.as_primitive::<IntervalMonthDayNanoType>();
            if all.iter().flatten().any(|x| x.months != 0) {
                return Err("intervals of months, which have no length in days".to_string());
            }
            let of = |x: arrow_array::types::IntervalMonthDayNano| {
                days_of_nanos(i128::from(x.days) * DAY + i128::from(x.nanoseconds))
            };
            Taken::Of(Kind::Duration, each::<IntervalMonthDayNanoType>(array, of))
        }
        other => return Err(other.to_string()),
    })
}

/// A dictionary, whose numbers are categories.
fn dictionary<'a, K: ArrowDictionaryKeyType>(array: &'a dyn Array, field: &Field) -> Result<Taken<'a>, String> {
    let of = array.as_dictionary::<K>();
    let values = match Taken::read(of.values().as_ref(), field)? {
        Taken::Numbers(values) => Taken::Of(Kind::Level, values),
        // (Those that a float has not are told apart by their digits.)
        Taken::Whole(values, exact) if exact.is_empty() => Taken::Of(Kind::Level, values),
        Taken::Whole(values, exact) => {
            let mut texts: Vec<Option<String>> = values.iter().map(|x| (!x.is_nan()).then(|| x.to_string())).collect();
            exact.into_iter().for_each(|(row, text)| texts[row as usize] = Some(text));
            Taken::Made(texts)
        }
        other => other,
    };
    Ok(values.at(of.keys_iter()))
}

/// Runs of equal values.
fn runs<'a, R: RunEndIndexType>(array: &'a dyn Array, field: &Field) -> Result<Taken<'a>, String> {
    let of = array.as_run::<R>();
    let values = Taken::read(of.values().as_ref(), field)?;
    Ok(values.at((0..of.len()).map(|row| Some(of.get_physical_index(row)))))
}
