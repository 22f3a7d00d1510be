import ConfigurationFile
import Model
import TestKit
import Testing

/// The section `gateway` of the file.
@Suite struct GatewayFileTests {
    @Test func oneListenerNeedsNoList() throws {
        let listeners = try read("gateway: {listen: ':8080', unsigned: yes, max-age: 60}").gateways
        #expect(listeners.map(\.place.text) == ["0.0.0.0:8080"])
        #expect(listeners[0].arguments == ["--unsigned", "--max-age", "60"])
    }

    @Test func aListenerMayBeAUnixSocket() throws {
        let listeners = try read("gateway: {listen: 'unix:/run/web/http.sock', unsigned: yes}")
            .gateways
        #expect(listeners.map(\.place) == [.unix(path: "/run/web/http.sock")])
    }

    @Test func whatIsSaidOfAllHoldsWhereTheGrammarHasIt() throws {
        let listeners = try read(
            """
            gateway:
              quality: 70
              watermark: https://example.com/m.png
              access-log: yes
              listeners:
                - {listen: "127.0.0.1:1", quality: 60, path-prefix: /img, host: [a, b]}
                - {listen: "127.0.0.1:2", grammar: thumbor, access-log: no}
                - {listen: "127.0.0.1:3", preset-lines: ["a=w:1", "b=w:2"]}
            """
        ).gateways
        #expect(listeners.count == 3)
        #expect(listeners[0].values[.quality] == "60" && listeners[0].values[.host] == "a,b")
        #expect(listeners[0].values[.watermark] == "https://example.com/m.png")
        #expect(listeners[1].values[.watermark] == nil && listeners[1].values[.quality] == "70")
        #expect(listeners[2].values[.presetLines] == "a=w:1\nb=w:2")
        let words = listeners[2].arguments
        let bytes = GatewayListenerSettings.fileBytes(of: words)
        #expect(GatewayListenerSettings.arguments(inFile: bytes) == words)
    }

    @Test(arguments: GatewaySetting.allCases) func eachSettingIsAKey(setting: GatewaySetting) throws
    {
        let lines = faults(in: "gateway: {listen: ':1', \(setting.rawValue): [[]]}")
        #expect(!lines.contains { $0.contains("has no key") }, "\(lines)")
        #expect(faults(in: "gateway: {listen: ':1', no-such: 1}").first?.contains("no key") == true)
    }

    @Test(arguments: [
        ("gateway: {quality: 70}", "'listen' is missing"),
        ("gateway: {listen: 8080}", "expected"),
        ("gateway: {listen: ':1', quality: 0}", "not an integer from 1 to 100"),
        ("gateway: {listen: ':1', grammar: imgix}", "thumbor, imagor, iiif or weserv"),
        (
            "gateway: {listen: ':1', grammar: thumbor, presets: /p}",
            "presets requires the grammar imgproxy"
        ),
        ("gateway: {listen: ':1', listeners: [{listen: ':2'}]}", "move 'listen' into each"),
        ("gateway: {listeners: [{listen: ':2'}, {listen: ':2'}]}", "two listeners"),
        (
            "gateway: {listeners: [{listen: 'unix:/a'}, {listen: 'unix:/a'}]}",
            "two listeners use unix:/a"
        ),
        ("gateway: {listen: 'unix:a'}", "unix:/PATH"),
        ("gateway: {listen: ':1', qualty: 70}", "Did you mean"),
    ])
    func faultsAreNamed(text: String, reason: String) {
        #expect(faults(in: text).contains { $0.contains(reason) }, "\(faults(in: text))")
    }

    @Test func anotherListenerIsAnotherConfiguration() throws {
        let one = try read("gateway: {listen: ':1'}")
        let other = try read("gateway: {listen: ':1', quality: 70}")
        #expect(other.differences(from: one) == "gateway")
    }
}
