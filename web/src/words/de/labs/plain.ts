/** The experiments' claims in everyday words. */

export const plain = {
    "How often softmax attention notices one marked token that linear attention averages away, at the settings of the paper's figure.":
        "Wie oft Softmax-Attention ein einzelnes markiertes Token bemerkt, das lineare Attention wegmittelt, bei den Einstellungen der Abbildung.",
    "Softmax attention notices one marked token; linear attention averages it away.":
        "Softmax-Attention bemerkt ein einzelnes markiertes Token, lineare Attention mittelt es weg.",
    "With a mark in the data, softmax attention notices it.":
        "Ist eine Marke in den Daten, bemerkt Softmax-Attention sie.",
    "With a mark in the data, linear attention does not notice it.":
        "Ist eine Marke in den Daten, bemerkt lineare Attention sie nicht.",
    "Without a mark, softmax attention raises no false alarm.":
        "Ohne Marke gibt Softmax-Attention keinen falschen Alarm.",
    "Without a mark, linear attention raises no false alarm.":
        "Ohne Marke gibt lineare Attention keinen falschen Alarm.",
    "How much weight the mark and all other tokens get, entry by entry.":
        "Wie viel Gewicht die Marke und alle anderen Token bekommen, Eintrag für Eintrag.",
    "What the rows of the output hold, entry by entry.":
        "Was die Zeilen der Ausgabe enthalten, Eintrag für Eintrag.",
    "Descending lowers the loss.": "Abstieg senkt den Verlust.",
    "A small step moves the answer only a little.":
        "Ein kleiner Schritt verschiebt die Antwort nur wenig.",
    "Whether a layer of attention does what a training step does, with weights that nobody chose.":
        "Ob eine Schicht Attention tut, was ein Trainingsschritt tut, mit Gewichten, die niemand gewählt hat.",
    "Each link of the proof holds along real descents.":
        "Jedes Glied des Beweises hält bei wirklichen Abstiegen.",
    "With the right weights, a layer of attention can do a training step.":
        "Mit den richtigen Gewichten kann eine Schicht Attention einen Trainingsschritt tun.",
    "With the right weights, a layer of attention moves the answer as a training step does.":
        "Mit den richtigen Gewichten verschiebt eine Schicht Attention die Antwort wie ein Trainingsschritt.",
    "A good sketch of the data changes no attention weight by much.":
        "Ein guter Sketch der Daten ändert kein Gewicht der Attention stark.",
    "A sketch of the size that is asked for is good nearly always.":
        "Ein Sketch der verlangten Größe ist fast immer gut.",
    "Sketching takes time at most in proportion to the data.":
        "Ein Sketch braucht höchstens Zeit im Verhältnis zu den Daten.",
    "How many features are enough does not depend on how many there are.":
        "Wie viele Features genügen, hängt nicht davon ab, wie viele es gibt.",
    "Sketching sparse data takes time at most in proportion to what is in them.":
        "Ein Sketch dünner Daten braucht höchstens Zeit im Verhältnis zu dem, was in ihnen steht.",
    "A few features that are chosen well are enough, without dice.":
        "Wenige gut gewählte Features genügen, ohne Würfel.",
    "Choosing features without dice takes work in proportion to their number.":
        "Features ohne Würfel zu wählen macht Arbeit im Verhältnis zu ihrer Zahl.",
    "Our way of choosing features without dice is slower than the paper's.":
        "Unsere Art, Features ohne Würfel zu wählen, ist langsamer als die der Arbeit.",
    "Each link of the proof holds for real sketches.":
        "Jedes Glied des Beweises hält bei wirklichen Sketches.",
    "Layers with hand-made weights average and copy tokens as precisely as promised.":
        "Schichten mit Gewichten von Hand mitteln und kopieren Token so genau wie zugesagt.",
    "The hand-made weights grow no faster than promised.":
        "Die Gewichte von Hand wachsen nicht schneller als zugesagt.",
    "With hand-made weights, linear and sparse attention compute an edit distance.":
        "Mit Gewichten von Hand berechnen lineare und dünne Attention eine Editierdistanz.",
    "These models grow as the square root of the length, and only in width.":
        "Diese Modelle wachsen wie die Wurzel der Länge, und nur in der Breite.",
    "With hand-made weights, sparse attention of one small width evaluates expressions.":
        "Mit Gewichten von Hand wertet dünne Attention einer kleinen Breite Ausdrücke aus.",
    "Softmax remembers all tokens, sparse attention some, linear attention a fixed amount.":
        "Softmax merkt sich alle Token, dünne Attention einige, lineare Attention immer gleich viel.",
    "To remember as much, sparse and linear attention must be wider.":
        "Um sich ebenso viel zu merken, müssen dünne und lineare Attention breiter sein.",
    "Arithmetic needs less memory, and so less width.":
        "Rechnen braucht weniger Gedächtnis und darum weniger Breite.",
    "Steps that look back a little only need less width.":
        "Schritte, die nur wenig zurückschauen, brauchen weniger Breite.",
    "Measured times grow as the operations do.": "Gemessene Zeiten wachsen wie die Operationen.",
    "No kind of attention keeps a square table.":
        "Keine Art von Attention hält eine quadratische Tabelle.",
    "Softmax's work grows with the square of the length, sparse and linear attention's more slowly.":
        "Die Arbeit von Softmax wächst mit dem Quadrat der Länge, die dünner und linearer Attention langsamer.",
    "What sparse and linear attention save in length they pay in width, in time too.":
        "Was dünne und lineare Attention an Länge sparen, zahlen sie an Breite, auch in der Zeit.",
    "What sparse and linear attention save in length they pay in width.":
        "Was dünne und lineare Attention an Länge sparen, zahlen sie an Breite.",
    "Softmax attention solves all tasks with one model size.":
        "Softmax-Attention löst alle Aufgaben mit einer Modellgröße.",
    "Sparse and linear attention need bigger models for bigger problems.":
        "Dünne und lineare Attention brauchen größere Modelle für größere Aufgaben.",
    "With more layers, too, sparse and linear attention need bigger models.":
        "Auch mit mehr Schichten brauchen dünne und lineare Attention größere Modelle.",
    "Problems that look back a little only need less width of sparse and linear attention.":
        "Aufgaben, die nur wenig zurückschauen, brauchen bei dünner und linearer Attention weniger Breite.",
    "The less each step looks back, the less width linear attention needs.":
        "Je weniger jeder Schritt zurückschaut, desto weniger Breite braucht lineare Attention.",
    "Softmax attention needs the least work to be good enough.":
        "Softmax-Attention braucht die wenigste Arbeit, um gut genug zu sein.",
    "Whether softmax attention needs the least work to be good enough.":
        "Ob Softmax-Attention die wenigste Arbeit braucht, um gut genug zu sein.",
    "Whether arithmetic of more operators needs wider models.":
        "Ob Rechnen mit mehr Operatoren breitere Modelle braucht.",
    "Bigger problems need wider models of sparse and linear attention.":
        "Größere Aufgaben brauchen breitere Modelle mit dünner und linearer Attention.",
};
