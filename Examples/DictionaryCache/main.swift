import ImagebusWorker

// dictionary-cache [--bytes N] …: all other arguments are passed to the SDK.
var words = Array(CommandLine.arguments.dropFirst())
var bytesMax = 256 << 20
if let place = words.firstIndex(of: "--bytes"), place + 1 < words.count,
    let number = Int(words[place + 1]), number > 0
{
    bytesMax = number
    words.removeSubrange(place...place + 1)
}
ImagebusWorker.run(DictionaryCache(bytesMax: bytesMax), arguments: words)
