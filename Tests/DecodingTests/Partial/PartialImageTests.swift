import Model
import Testing

/// Files of every kind, truncated at various positions.
@Suite struct PartialImageTests {
    private static let size = PixelSize(width: PartialFile.width, height: PartialFile.height)

    @Test(arguments: PartialFile.allCases)
    func theFactsAreThereWithTheFirstBytes(file: PartialFile) throws {
        let bytes = try file.bytes()
        let info = try partial(bytes.part(10), .header).info
        #expect(info.size == Self.size && info.pages == 1)
        #expect(info.format == file.format)
        #expect(info.hasAlpha == (file.bands == 4))
    }

    @Test(arguments: PartialFile.allCases)
    func theImageBecomesMoreLikeTheWholeOne(file: PartialFile) throws {
        let bytes = try file.bytes()
        let whole = try file.samples()
        var last = 0.0
        for part in [20, 40, 60, 80, 100] {
            let found = try partial(bytes.part(part))
            try #require(found.isShown, "\(part) %")
            let likeness = likeness(found.samples, whole)
            #expect(likeness > last || likeness == 99, "\(part) %: \(likeness) dB after \(last)")
            last = likeness
        }
        #expect(last == 99, "all bytes are the whole image")
    }

    /// Each pass covers the whole area: a fifth of the file already resembles the complete image.
    @Test(arguments: [PartialFile.progressive, .adam7])
    func passesAreLikeTheImageFromTheBeginning(file: PartialFile) throws {
        let (bytes, whole) = try (file.bytes(), file.samples())
        let rows = file == .progressive ? PartialFile.baseline : .png
        let byRows = try likeness(
            partial(rows.bytes().part(30)).samples, rows.samples())
        let byPasses = try likeness(partial(bytes.part(30)).samples, whole)
        #expect(byPasses > byRows + 6, "\(byPasses) dB by passes, \(byRows) dB by rows")
    }

    @Test(arguments: PartialFile.allCases)
    func everyLengthGivesAnImageOrNothingOrATypedError(file: PartialFile) throws {
        let bytes = try file.bytes()
        var (shown, refused, hadFacts) = (0, 0, false)
        for part in stride(from: 0, through: 100, by: 3) {
            do throws(ImageError) {
                let found = try imageError { try partial(bytes.part(part)) }
                hadFacts = true
                #expect(found.info.size == Self.size)
                shown += found.isShown ? 1 : 0
            } catch {
                #expect(error.code == .badImageData && !hadFacts, "\(part) %: \(error)")
                refused += 1
            }
        }
        #expect(shown > 23 && (1...4).contains(refused), "\(shown) shown, \(refused) refused")
    }

    /// Small steps where the header ends and the pixels begin, and single bytes at the end.
    @Test(arguments: PartialFile.allCases)
    func factsThatAreThereStay(file: PartialFile) throws {
        let bytes = try file.bytes()
        var (hadFacts, hadFactsAlone) = (false, false)
        let counts = Array(stride(from: 0, to: 1_400, by: 11)) + (bytes.count - 40...bytes.count)
        for count in counts {
            do throws(ImageError) {
                let found = try imageError { try partial(Array(bytes.prefix(count))) }
                if !found.isShown { hadFactsAlone = true }
                hadFacts = true
            } catch {
                #expect(error.code == .badImageData && !hadFacts, "\(count) bytes: \(error)")
            }
        }
        // In a GIF the first pixel follows two bytes later.
        #expect(hadFacts && (hadFactsAlone || file == .gif))
    }

    /// An incomplete table can't be read; the image decoded before it is shown.
    @Test func aSegmentBetweenScansMayBeCutAnywhere() throws {
        let bytes = try PartialFile.progressive.bytes()
        let marks = bytes.indices.dropLast().filter {
            bytes[$0] == 0xFF && [0xC4, 0xDA].contains(bytes[$0 + 1])
        }
        let scan = try #require(marks.first { bytes[$0 + 1] == 0xDA })
        let later = marks.filter { $0 > scan }
        #expect(later.count > 8)
        for mark in later {
            let before = try partial(Array(bytes.prefix(mark)))
            for more in [1, 2, 3, 4, 6, 9] {
                let found = try partial(Array(bytes.prefix(mark + more)))
                #expect(found.isShown && found.samples == before.samples, "\(mark) + \(more)")
            }
        }
    }

    @Test(arguments: PartialFile.allCases, [1, 8])
    func tooFewBytesAreRefused(file: PartialFile, count: Int) throws {
        let bytes = try Array(file.bytes().prefix(count))
        let error = #expect(throws: ImageError.self) { try partial(bytes) }
        #expect(error?.code == .badImageData)
    }
}

/// Runs `body` with its error narrowed to `ImageError`.
func imageError<Value>(_ body: () throws -> Value) throws(ImageError) -> Value {
    do {
        return try body()
    } catch let error as ImageError {
        throw error
    } catch {
        throw ImageError(.internalError, "an error of another type: \(error)")
    }
}
