import CommandLineInterface
import Model
import Reporting
import Testing

@testable import imagebus_cli

@Suite struct OptionValueTests {
    @Test(arguments: [
        ("1", 1), ("1024", 1024), ("1k", 1024), ("256M", 256 << 20), ("2G", 2 << 30),
        ("1T", 1 << 40),
    ])
    func bytesHaveUnits(_ text: String, _ count: Int) {
        #expect(PlainNumber.scaled(text, by: 1_024) == count)
    }

    @Test(arguments: ["", "M", "1.5G", "99999999999T", "1 M", "0x10"])
    func otherTextsAreNoBytes(_ text: String) {
        #expect(PlainNumber.scaled(text, by: 1_024) == nil)
    }

    @Test(arguments: [
        ("10s", 10_000), ("250ms", 250), ("2m", 120_000), ("1h", 3_600_000), ("1.5s", 1500),
        ("3", 3000),
    ])
    func timesHaveUnits(_ text: String, _ milliseconds: Int) throws {
        #expect(try OptionValue.milliseconds(text, atMost: 3_600_000) == milliseconds)
    }

    @Test(arguments: ["", "s", "0s", "-1s", "2h", "nan", "inf", "0.1ms", "1d", "1e99"])
    func otherTextsAreNoTimes(_ text: String) {
        #expect(throws: UsageError.self) { try OptionValue.milliseconds(text, atMost: 3_600_000) }
    }

    @Test(arguments: ["10.0.0.7:8080", "127.0.0.1:1", "[::1]:65535", "[fd00::7]:80"])
    func addressesHaveAPort(_ text: String) throws {
        #expect(try OptionValue.address(text) == text)
    }

    @Test(arguments: [
        "", "10.0.0.7", "10.0.0.7:", "10.0.0.7:0", "10.0.0.7:65536", "::1:80", "host:80",
        "[10.0.0.7]:80", "10.0.0:80",
    ])
    func otherTextsAreNoAddresses(_ text: String) {
        #expect(throws: UsageError.self) { try OptionValue.address(text) }
    }

    @Test(arguments: ["0x5", "5x", "x", "5x5x5", "-1x5", "32768x1", "5 x5", "5X5", "５x5"])
    func otherTextsAreNoSizes(_ text: String) {
        #expect(throws: UsageError.self) { try OptionValue.size(text) }
    }

    private func step(_ name: String, _ text: String) throws -> TransformStep {
        let syntax = try #require(TransformStep.syntaxes.first { $0.name == name })
        return try OptionValue.step(syntax, text)
    }

    @Test func geometryIsRead() throws {
        #expect(try OptionValue.size("512x418") == PixelSize(width: 512, height: 418))
        #expect(
            try step("crop", "-5,20,300,200")
                == .crop(PixelRect(x: -5, y: 20, size: PixelSize(width: 300, height: 200))))
        #expect(throws: UsageError.self) { try step("crop", "1,2,3") }
        let beyond = #expect(throws: UsageError.self) { try step("crop", "99999,0,5,5") }
        #expect(beyond?.message.contains("at most 32767 each") == true)
        #expect(throws: UsageError.self) { try step("crop", "1,2,0,4") }
        #expect(throws: UsageError.self) { try step("crop", "1,2,3,4,x") }
        #expect(try step("rotate", "90") == .rotate(Rotation(degreesClockwise: 90)))
        #expect(try step("rotate", "-12.5") == .rotate(Rotation(degreesClockwise: -12.5)))
        #expect(Rotation(degreesClockwise: 90).quarterTurnsClockwise == 1)
        #expect(Rotation(degreesClockwise: -12.5).quarterTurnsClockwise == nil)
        #expect(throws: UsageError.self) { try step("rotate", "inf") }
        #expect(try step("flip", "hv") == .flip(horizontal: true, vertical: true))
        #expect(throws: UsageError("'x' is not h, v or hv")) { try step("flip", "x") }
        #expect(
            try step("overlay", "http://h/m.png,-1,2,0.5")
                == .overlay(Overlay(url: "http://h/m.png", x: -1, y: 2, opacity: 0.5)))
        #expect(throws: UsageError.self) { try step("overlay", "m.png") }
        #expect(
            try step("custom", "acme.denoise:strength=0.5")
                == .custom(CustomStep("acme.denoise", parameters: ["strength": "0.5"])))
        #expect(throws: UsageError.self) { try step("custom", "denoise") }
        #expect(try OptionValue.format("jpg") == .jpeg)
        #expect(try OptionValue.format("qoi") == .qoi, "a plug-in may encode it")
        #expect(throws: UsageError.self) { try OptionValue.format("mp4") }
    }

    @Test(
        arguments: [
            (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KB"), (37_888, "37.0 KB"),
            (1 << 20, "1.0 MB"), (UInt64(3) << 40, "3.0 TB"),
        ] as [(UInt64, String)])
    func bytesAreToldInUnits(_ count: UInt64, _ text: String) {
        #expect(ByteText.text(count) == text)
    }
}
