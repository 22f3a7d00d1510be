import JSON
import Testing

/// The errors of the writer. ReportingTests compares the output for values of all kinds with that
/// of another writer.
@Suite struct JSONWriterTests {
    private func error(_ value: some Encodable) -> String? {
        do throws(JSONError) {
            _ = try JSONWriter.text(value)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func aNumberThatJSONDoesNotHaveIsNamedWithItsPlace() {
        #expect(
            error(["a": [1, Double.nan]]) == "a.1 is nan, which JSON cannot represent")
        #expect(error(-Double.infinity) == "the value is -inf, which JSON cannot represent")
    }

    @Test func anIntegerBeyond64BitsIsNamed() {
        let large = UInt64(Int64.max) + 1
        #expect(
            error(["count": large])
                == "count is 9223372036854775808, which does not fit in a 64-bit integer")
    }

    @Test func aShortFloatIsRefused() {
        #expect(
            error([Float(0.1)]) == "0 is a Float, which is not supported: convert it to Double")
    }

    @Test func aNestedContainerIsRefused() {
        struct Nested: Encodable {
            func encode(to encoder: any Encoder) throws {
                var values = encoder.container(keyedBy: Name.self)
                var inner = values.nestedContainer(keyedBy: Name.self, forKey: .outer)
                try inner.encode(1, forKey: .inner)
            }
            enum Name: CodingKey { case outer, inner }
        }
        struct Items: Encodable {
            func encode(to encoder: any Encoder) throws {
                var items = encoder.unkeyedContainer()
                try items.encode(1)
                try [2].encode(to: items.superEncoder())
            }
        }
        let refusal = "is a nested container, which is not supported: encode a value"
        #expect(error(Nested()) == "outer \(refusal)")
        #expect(error(Items()) == "1 \(refusal)")
    }

    @Test func aValueIsOneOfItsKind() {
        struct TwoKinds: Encodable {
            func encode(to encoder: any Encoder) throws {
                try [1].encode(to: encoder)
                try ["a": 1].encode(to: encoder)
            }
        }
        struct TwoValues: Encodable {
            func encode(to encoder: any Encoder) throws {
                var value = encoder.singleValueContainer()
                try value.encode(1)
                try value.encode(2)
            }
        }
        struct Nothing: Encodable {
            func encode(to encoder: any Encoder) {}
        }
        #expect(error(TwoKinds()) == "the value requests containers of two kinds")
        #expect(error(TwoValues()) == "the value encodes two values")
        #expect(error(["a": Nothing()]) == "a encodes no value")
    }

    @Test func anArrayKnowsItsCount() throws {
        struct Counting: Encodable {
            func encode(to encoder: any Encoder) throws {
                var items = encoder.unkeyedContainer()
                try items.encodeNil()
                try items.encode(items.count)
                try items.encode(items.count)
            }
        }
        #expect(try JSONWriter.text(Counting()) == "[null,1,2]")
    }
}
