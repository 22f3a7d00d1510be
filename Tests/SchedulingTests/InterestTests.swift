import Model
import Testing

@testable import Coordinator

/// Valid combinations of what a request asks for besides its image.
@Suite struct InterestTests {
    private func error(_ change: (inout ImageRequest) -> Void) -> ImageError? {
        var request = ImageRequest(url: "http://host/a.jpg")
        change(&request)
        do throws(ImageError) {
            try request.checkLoadOptions()
            return nil
        } catch {
            return error
        }
    }

    @Test func everyBitHasANameAndOneMeaning() {
        #expect(RequestOptions.names.count == 27)
        for (bit, entry) in RequestOptions.names.prefix(26).enumerated() {
            #expect(entry.option.rawValue == 1 << bit, "\(entry.name)")
        }
        #expect(RequestOptions.names.last?.option.rawValue == 1 << 31, "our own")
        let meanings: [RequestOptions] = [.effective, .withoutEffect, .notSupported]
        for (index, meaning) in meanings.enumerated() {
            for other in meanings[(index + 1)...] { #expect(meaning.isDisjoint(with: other)) }
        }
        #expect(RequestOptions.known.rawValue == (1 << 26) - 1 | 1 << 31)
    }

    @Test func optionsThatAreNotThereAreRefusedByName() {
        for (name, option) in RequestOptions.names {
            let error = error { $0.options = option }
            if RequestOptions.notSupported.contains(option) {
                #expect(error?.code == .notSupported)
                #expect(error?.details["option"] == name)
            } else {
                #expect(error == nil, "\(name)")
            }
        }
        #expect(
            error { $0.options = RequestOptions(rawValue: 1 << 26) }?.code == .invalidRequest)
    }

    @Test func contextOptionsThatAreNotThereAreRefusedByName() {
        for key in ContextKey.notSupported {
            let error = error { $0.context.others[key.rawValue] = "1" }
            #expect(error?.code == .notSupported)
            #expect(error?.details["option"] == key.rawValue)
        }
        #expect(error { $0.context.others["colour-of-the-sky"] = "" }?.code == .invalidRequest)
    }
}
